/* The part of the metadata that is the same in every trace. Not linked where no sink asks for it (struct instr_sink, `declare`). */
#include "core/cold.h"

#include <string.h>

#include "core/declarations.h"
#include "core/format.h"
#include "core/metadata.h"
#include "sinks/sink.h"

static void text(const char *s)
{
    instr_sink_text(s, strlen(s));
}

static void id(unsigned value)
{
    char buffer[3];
    unsigned at = sizeof buffer;
    do {
        buffer[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    instr_sink_text(buffer + at, sizeof buffer - at);
}

/* One text for all events, since a processor may want each text of its own at an aligned address. */
#define ID(id, text) id,
#define TEXT(id, text) text "\0"
static const uint8_t IDS[] = {INSTR_EVENTS(ID)};
static const char TEXTS[] = INSTR_EVENTS(TEXT);

static const char *type_of(char letter)
{
    switch (letter) {
    case 'u':
        return "u32 ";
    case 'U':
        return "u64 ";
    case 'I':
        return "i64 ";
    case 'a':
        return "addr_t ";
    case 's':
        return "string ";
    default:
        return "struct depend ";
    }
}

static void events(void)
{
    const char *word = TEXTS;
    for (size_t i = 0; i < sizeof IDS; i++, word++) {
        size_t length = strcspn(word, " ");
        text("event { id = ");
        id(IDS[i]);
        text("; name = \"");
        instr_sink_text(word, length);
        text("\"; stream_id = 0; fields := struct { ");
        for (word += length; *word == ' '; word += length) {
            text(type_of(word[1]));
            word += 2;
            length = strcspn(word, " ");
            instr_sink_text(word, length);
            text("; ");
        }
        text("}; };\n");
    }
}

void instr_metadata_declare(bool stream)
{
    if (stream) {
        text(INSTR_DECLARED_STREAM);
        events();
    } else {
        text(INSTR_DECLARED_TYPES);
        text(sizeof(void *) == 8 ? "typealias integer { size = 64; align = 32; signed = false; base = 16; } := addr_t;\n\n"
                                 : "typealias integer { size = 32; align = 32; signed = false; base = 16; } := addr_t;\n\n");
    }
}

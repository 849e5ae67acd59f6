/* The part of the metadata that is the same in every trace. Not linked where no sink asks for it (struct instr_sink, `declare`). */
#include "core/cold.h"

#include "core/declarations.h"

#include "core/metadata.h"
#include "sinks/sink.h"

static const uint8_t LETTERS[] = {INSTR_DECLARED_LETTERS};
static const uint8_t PAIRS[] = {INSTR_DECLARED_PAIRS};
static const uint8_t STREAM[] = {INSTR_DECLARED_STREAM};
#if UINTPTR_MAX > 0xffffffffu
static const uint8_t TYPES[] = {INSTR_DECLARED_TYPES_64};
#else
static const uint8_t TYPES[] = {INSTR_DECLARED_TYPES_32};
#endif

/* core/declarations.h says how the text is packed. */
static void unpack(const uint8_t *bytes, size_t count)
{
    for (; count > 0; bytes++, count--) {
        if (*bytes >= sizeof LETTERS)
            unpack(PAIRS + 2 * (*bytes - sizeof LETTERS), 2);
        else
            instr_sink_text((const char *)LETTERS + *bytes, 1);
    }
}

void instr_metadata_declare(bool stream)
{
    if (stream)
        unpack(STREAM, sizeof STREAM);
    else
        unpack(TYPES, sizeof TYPES);
}

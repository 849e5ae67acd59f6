/* The sink that the settings chose. */
#include "core/cold.h"

#include "core/settings.h"
#include "core/thread.h"
#include "sinks/sink.h"

const char *instr_sink_trouble;

#if INSTR_KEEPS_RUNS
uint32_t instr_sink_run;
const char *instr_sink_where = "";
#endif

static const struct instr_sink *of_kind(unsigned kind)
{
    switch (kind) {
    case INSTR_SINK_CONSOLE:
        return &instr_sink_console;
    case INSTR_SINK_RAM:
        return &instr_sink_ram;
    case INSTR_SINK_OWN:
        return &instr_sink_own;
    case INSTR_SINK_FILE:
    default:
        return &instr_sink_file;
    }
}

bool instr_sink_has(unsigned kind)
{
    return of_kind(kind) != NULL;
}

/* The settings saw to it that it is there. */
static const struct instr_sink *sink(void)
{
    return of_kind(instr_settings.sink);
}

bool instr_sink_open(const char *wanted, const char *program)
{
    return sink() != NULL && sink()->open(wanted, program);
}

bool instr_sink_open_child(uint32_t pid)
{
    return sink()->open_child != NULL && sink()->open_child(pid);
}

void *instr_sink_window(uint32_t number, size_t bytes)
{
    return sink()->window != NULL ? sink()->window(number, bytes) : NULL;
}

void instr_sink_window_remove(uint32_t number)
{
    if (sink()->window_remove != NULL)
        sink()->window_remove(number);
}

bool instr_sink_append(uint32_t stream, const void *bytes, size_t count)
{
    return sink()->append(stream, bytes, count);
}

bool instr_sink_keeps(void)
{
    return sink()->keeps;
}

#if INSTR_HAS_TAKEOVER
bool instr_sink_shares(void)
{
    return sink()->shares;
}
#endif

bool instr_sink_text_begin(void)
{
    return sink()->text_begin();
}

void instr_sink_text(const char *bytes, size_t count)
{
    sink()->text(bytes, count);
}

bool instr_sink_text_end(void)
{
    return sink()->text_end();
}

bool instr_sink_declares(void)
{
    return sink()->declare != NULL;
}

void instr_sink_declare(bool stream)
{
    if (sink()->declare != NULL)
        sink()->declare(stream);
}

bool instr_sink_is_line(void)
{
    return sink()->line;
}

#if INSTR_HAS_TAKEOVER
void instr_sink_lost(uint32_t events)
{
    if (sink()->lost != NULL)
        sink()->lost(events);
}
#endif

#if INSTR_KEEPS_RUNS
void instr_sink_give_way(bool vanish)
{
    if (sink()->give_way != NULL)
        sink()->give_way(vanish);
}
#endif

void instr_sink_end(uint64_t events)
{
    if (sink()->end != NULL)
        sink()->end(events);
}

/* A sink of the program's own: the same bytes into the file, the console and the image, so that the three can be compared. */
#include <stddef.h>

#include "sinks/sink.h"

static bool open_all(const char *wanted, const char *program)
{
    const bool file = instr_sink_file.open(wanted, program);
    const bool console = instr_sink_console.open(wanted, program);
    return instr_sink_ram.open(wanted, program) && file && console;
}

static void *window(uint32_t number, size_t bytes)
{
    return instr_sink_ram.window(number, bytes);
}

static bool append(uint32_t thread, const void *bytes, size_t count)
{
    const bool file = instr_sink_file.append(thread, bytes, count);
    return instr_sink_console.append(thread, bytes, count) && file;
}

static bool text_begin(void)
{
    const bool file = instr_sink_file.text_begin();
    const bool console = instr_sink_console.text_begin();
    return instr_sink_ram.text_begin() && file && console;
}

static bool file_only;

static void text(const char *bytes, size_t count)
{
    instr_sink_file.text(bytes, count);
    if (file_only)
        return;
    instr_sink_console.text(bytes, count);
    instr_sink_ram.text(bytes, count);
}

static bool text_end(void)
{
    const bool file = instr_sink_file.text_end();
    const bool console = instr_sink_console.text_end();
    return instr_sink_ram.text_end() && file && console;
}

/* What readers of a file want and instr extract puts into the others. */
static void declare(bool stream)
{
    file_only = true;
    instr_sink_file.declare(stream);
    file_only = false;
}

static void end(uint64_t events)
{
    instr_sink_console.end(events);
}

const struct instr_sink instr_sink_own = {
    .name = "own",
    .keeps = true,
    .open = open_all,
    .window = window,
    .append = append,
    .text_begin = text_begin,
    .text = text,
    .text_end = text_end,
    .declare = declare,
    .end = end,
};

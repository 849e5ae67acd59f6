/* A sink of the program's own: files, and windows that take 2 ms of the thread that asks for one, while it has the runtime's lock. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <rtems.h>

#include "sinks/sink.h"

static atomic_flag asks = ATOMIC_FLAG_INIT;

static void *window(uint32_t number, size_t bytes)
{
    const uint64_t end = rtems_clock_get_uptime_nanoseconds() + 2000000;
    (void)number;
    (void)bytes;
    if (atomic_flag_test_and_set(&asks))
        abort(); /* two threads have the lock */
    while (rtems_clock_get_uptime_nanoseconds() < end)
        ;
    atomic_flag_clear(&asks);
    return NULL; /* memory of the pool */
}

static bool open_files(const char *wanted, const char *program)
{
    return instr_sink_file.open(wanted, program);
}

static bool append(uint32_t thread, const void *bytes, size_t count)
{
    return instr_sink_file.append(thread, bytes, count);
}

static bool text_begin(void)
{
    return instr_sink_file.text_begin();
}

static void text(const char *bytes, size_t count)
{
    instr_sink_file.text(bytes, count);
}

static bool text_end(void)
{
    return instr_sink_file.text_end();
}

static void declare(bool stream)
{
    instr_sink_file.declare(stream);
}

const struct instr_sink instr_sink_own = {
    .name = "own",
    .open = open_files,
    .window = window,
    .append = append,
    .text_begin = text_begin,
    .text = text,
    .text_end = text_end,
    .declare = declare,
};

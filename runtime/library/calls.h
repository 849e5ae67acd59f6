/*
 * The functions of instr/instr.h in an object without the runtime, and what stubs without a probe call: they call those of the one runtime of
 * the process, once it is found. For library/library.c and library/preload.c alone, each of which says before what has to be done first
 * (INSTR_CALLS_BEGIN()), and who sees the functions (INSTR_CALLS_SHOWN).
 */
#ifndef INSTR_LIBRARY_CALLS_H
#define INSTR_LIBRARY_CALLS_H

#include <stdint.h>

#include "library/interface.h"

struct instr_call; /* instr/probes.h */

#define DESCRIBED(F) \
    F(void, call_enter, (const struct instr_call *, const char *, uint32_t, const uint64_t *)) \
    F(void, call_leave, (const struct instr_call *))

static struct instr_calls {
    INSTR_MARKS(INSTR_POINTER)
    DESCRIBED(INSTR_POINTER)
} instr_calls;

static void instr_calls_find(const struct instr_table *table)
{
    struct instr_calls calls;
    INSTR_MARKS(INSTR_FIND)
    DESCRIBED(INSTR_FIND)
    instr_calls = calls;
}

#undef DESCRIBED

INSTR_CALLS_SHOWN void instr_event(uint32_t type, uint64_t value)
{
    INSTR_CALLS_BEGIN();
    if (instr_calls.event != NULL)
        instr_calls.event(type, value);
}

INSTR_CALLS_SHOWN void instr_region_begin(const char *name)
{
    INSTR_CALLS_BEGIN();
    if (instr_calls.region_begin != NULL)
        instr_calls.region_begin(name);
}

INSTR_CALLS_SHOWN void instr_region_end(void)
{
    INSTR_CALLS_BEGIN();
    if (instr_calls.region_end != NULL)
        instr_calls.region_end();
}

INSTR_CALLS_SHOWN void instr_counter(const char *name, int64_t value)
{
    INSTR_CALLS_BEGIN();
    if (instr_calls.counter != NULL)
        instr_calls.counter(name, value);
}

INSTR_CALLS_SHOWN int instr_start(const char *config)
{
    INSTR_CALLS_BEGIN();
    return instr_calls.start != NULL ? instr_calls.start(config) : INSTR_NOT_RECORDED;
}

INSTR_CALLS_SHOWN int instr_stop(void)
{
    INSTR_CALLS_BEGIN();
    return instr_calls.stop != NULL ? instr_calls.stop() : 0;
}

INSTR_CALLS_SHOWN int instr_flush(void)
{
    INSTR_CALLS_BEGIN();
    return instr_calls.flush != NULL ? instr_calls.flush() : -1;
}

__attribute__((visibility("hidden"))) void instr_call_enter(const struct instr_call *call, const char *name, uint32_t count, const uint64_t *args)
{
    if (instr_calls.call_enter != NULL)
        instr_calls.call_enter(call, name, count, args);
}

__attribute__((visibility("hidden"))) void instr_call_leave(const struct instr_call *call)
{
    if (instr_calls.call_leave != NULL)
        instr_calls.call_leave(call);
}

#endif

/*
 * Events of generated stubs for described functions that have no probe of their own.
 *
 * A call may be left without its stub's doing, by longjmp. Stacks grow downwards: what lies below a stub that begins or ends a call has been
 * left. Ends have no names in the trace, so each call that began must end, the innermost one first. What lies on another stack (contexts
 * that the program switches, a handler's) is taken for left if that stack is at lower addresses, and its own end is then passed over.
 */
#include "core/record.h"
#include "instr/probes.h"

#define MAX_ARGS 16u

static void end_call(struct instr_thread *t, uint64_t result)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_CALL_END, 2);
    if (p != NULL) {
        instr_put64(p, result);
        instr_close(&s);
    }
}

#if INSTR_KNOWS_CALLS
static uintptr_t *innermost(struct instr_thread *t)
{
    return &t->calls[(t->call_depth - 1) % INSTR_KNOWN_CALLS];
}

/* The innermost call is no longer open. */
static void forget(struct instr_thread *t)
{
    t->call_depth--;
    if (t->calls_known != 0)
        t->calls_known--;
}

/* Ends the calls whose stubs lay below `place`: of those that lie deeper than are known, all or none. */
static void end_left(struct instr_thread *t, uintptr_t place)
{
    while (t->call_depth != 0 && (t->calls_known != 0 ? *innermost(t) : t->first_call) < place) {
        forget(t);
        end_call(t, 0);
    }
}

/* A call begins. A handler that interrupts this may use the place that is not counted yet, so it is written twice. */
static void enter(struct instr_thread *t, uintptr_t place)
{
    end_left(t, place + 1);
    if (t->call_depth == 0)
        t->first_call = place;
    t->calls[t->call_depth % INSTR_KNOWN_CALLS] = place;
    INSTR_BARRIER();
    t->call_depth++;
    if (t->calls_known < INSTR_KNOWN_CALLS)
        t->calls_known++;
    INSTR_BARRIER();
    *innermost(t) = place;
}

/* Whether the call is open: then it is no longer. Of calls that lie deeper than are known, each end is the innermost one's. */
static bool leave(struct instr_thread *t, uintptr_t place)
{
    end_left(t, place);
    const bool is_open = t->call_depth != 0 && (t->calls_known == 0 || *innermost(t) == place);
    if (is_open)
        forget(t);
    return is_open;
}
#else
static void enter(struct instr_thread *t, uintptr_t place)
{
    (void)t;
    (void)place;
}

static bool leave(struct instr_thread *t, uintptr_t place)
{
    (void)t;
    (void)place;
    return true;
}
#endif

void instr_call_enter(const struct instr_call *call, const char *name, uint32_t count, const uint64_t *args)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s = {NULL, NULL, NULL}; /* GCC 11 does not see that it is set where p is */
    if (t == NULL)
        return;
    enter(t, (uintptr_t)call);
    if (count > MAX_ARGS)
        count = MAX_ARGS;
    uint32_t *p = instr_open_named(t, &s, INSTR_EV_CALL_BEGIN, INSTR_ADDR_WORDS + 1 + 2 * (size_t)count, name);
    if (p == NULL)
        return;
    p = instr_put32(instr_put_addr(p, (uintptr_t)name), count);
    for (uint32_t i = 0; i < count; i++)
        p = instr_put64(p, args[i]);
    instr_close(&s);
}

void instr_call_leave(const struct instr_call *call)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL && leave(t, (uintptr_t)call))
        end_call(t, call->result);
}

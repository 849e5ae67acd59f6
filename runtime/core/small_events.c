#include "core/record.h"

#if INSTR_ARCH_SMALL
uint32_t *instr_open(struct instr_thread *t, struct instr_slot *s, unsigned id, size_t words)
{
    return instr_open_here(t, s, id, words);
}

static void record(struct instr_thread *t, unsigned id, size_t words, uint32_t a, uint32_t b)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, id, words);
    if (p == NULL)
        return;
    if (words > 0)
        p[0] = a;
    if (words > 1)
        p[1] = b;
    instr_close(&s);
}

void instr_event0(struct instr_thread *t, unsigned id)
{
    record(t, id, 0, 0, 0);
}

void instr_event1(struct instr_thread *t, unsigned id, uint32_t a)
{
    record(t, id, 1, a, 0);
}

void instr_event2(struct instr_thread *t, unsigned id, uint32_t a, uint32_t b)
{
    record(t, id, 2, a, b);
}
#endif

/* A translation unit must not be empty. */
extern int instr_small_events_unused;

/*
 * The small events where code size counts: nearly all events of a board are written here. What is in the way of one, and all others, go through
 * instr_open().
 */
#include "core/record.h"

#if INSTR_ARCH_SMALL
#define MOST_WORDS 3u

uint32_t *instr_open(struct instr_thread *t, struct instr_slot *s, unsigned id, size_t words)
{
    return instr_open_here(t, s, id, words);
}

#if INSTR_ARCH_HAS_PROCESSOR
struct instr_thread *instr_thread(void)
{
    struct instr_thread *const t = instr_self;
    if (INSTR_LIKELY(t != NULL && instr_process.active == INSTR_ON_TICKS && !instr_has_moved(t)))
        return t;
    return instr_thread_now();
}
#endif

static __attribute__((noinline, cold)) void write_event(struct instr_thread *t, unsigned id, size_t words, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t payload[MOST_WORDS] = {a, b, c};
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, id, words);
    if (p == NULL)
        return;
    for (size_t i = 0; i < words; i++)
        p[i] = payload[i];
    instr_close(&s);
}

/* Elsewhere than on boards the clock is the system's as a rule, and the short way would never be taken. */
#if INSTR_PLATFORM_SMALL
void instr_event0(struct instr_thread *t, unsigned id)
{
    struct instr_slot s;
    if (INSTR_LIKELY(instr_open_fast(t, &s, id, 0, 0, false) != NULL))
        instr_close(&s);
    else
        write_event(t, id, 0, 0, 0, 0);
}

void instr_event_words(struct instr_thread *t, unsigned id, size_t words, uint32_t a, uint32_t b, uint32_t c)
{
    struct instr_slot s;
    uint32_t *p = instr_open_fast(t, &s, id, words, MOST_WORDS, false);
    if (!INSTR_LIKELY(p != NULL)) {
        write_event(t, id, words, a, b, c);
        return;
    }
    p[0] = a; /* stores that the event does not need cost less than to ask for each */
    p[1] = b;
    p[2] = c;
    instr_close(&s);
}
#else
void instr_event0(struct instr_thread *t, unsigned id)
{
    write_event(t, id, 0, 0, 0, 0);
}

void instr_event_words(struct instr_thread *t, unsigned id, size_t words, uint32_t a, uint32_t b, uint32_t c)
{
    write_event(t, id, words, a, b, c);
}
#endif
#endif

/* A translation unit must not be empty. */
extern int instr_small_events_unused;

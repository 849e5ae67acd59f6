/*
 * Events of signal handlers that interrupt an event.
 *
 * An event is written in some nanoseconds, in which the thread's window belongs to whoever writes. A handler that comes then keeps its own
 * event here, with its time; the thread's next event writes it first. What finds no place is counted as discarded. Handlers may be
 * interrupted by others: each takes a place of its own. Nothing of this costs an event that is not interrupted.
 */
#ifndef INSTR_LATE_H
#define INSTR_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"

struct instr_thread;

/* Not without signals, nor on processors where a handler's number cannot be counted in one step (SPARC V8). */
#if !INSTR_PLATFORM_SMALL && defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_4)
#define INSTR_HAS_LATE 1
#else
#define INSTR_HAS_LATE 0
#endif

#if !INSTR_HAS_LATE
struct instr_late {
    char none;
};

static inline bool instr_late(struct instr_thread *t, unsigned id, const uint32_t *words, unsigned count)
{
    (void)t;
    (void)id;
    (void)words;
    (void)count;
    return false;
}

#else
#define INSTR_LATE_EVENTS 12u
#define INSTR_LATE_WORDS 4u /* of payload */

struct instr_late_event {
    uint64_t ticks;
    uint32_t id;
    uint32_t complete; /* words of payload, and 1; 0: not complete */
    uint32_t words[INSTR_LATE_WORDS];
};

struct instr_late {
    uint32_t taken;   /* places given out: by handlers */
    uint32_t written; /* and taken back: by the thread */
    struct instr_late_event events[INSTR_LATE_EVENTS];
};

/*
 * Keeps an event if the calling thread is a signal handler that interrupted another one, or counts it. False: it did not, and the event is
 * to be written as usual.
 */
bool instr_late(struct instr_thread *t, unsigned id, const uint32_t *words, unsigned count);

void instr_late_write(struct instr_thread *t);
#endif

/* Whether the writer that `limit` names is gone: a handler left its frame for good (siglongjmp). */
#if INSTR_ARCH_POSITIVE
bool instr_guard_is_left(const char *limit);
#else
static inline bool instr_guard_is_left(const char *limit)
{
    (void)limit; /* not known: the thread is silent, and every event is counted */
    return false;
}
#endif

#endif

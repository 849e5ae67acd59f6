/* What the probes of POSIX, C11 and C++ threads share (docs/decisions/0024). */
#ifndef INSTR_PROBES_PTHREAD_H
#define INSTR_PROBES_PTHREAD_H

#include <stdbool.h>

#include "core/pthread_levels.h"
#include "core/record.h"
#include "core/registry.h"
#include "core/settings.h"
#include "instr/probes.h"

/* The level of INSTR_PTHREAD. */
extern uint32_t instr_pthread_level;

/* The program has made a thread: from then on threads have names. */
extern bool instr_pthread_made;

/*
 * A thread's calls.
 *
 * A wait may be left in other ways than by its call's return: the thread is cancelled, or an exception comes by. Then the next call
 * of the thread, mostly one of its handlers', ends the wait. No function that handlers of signals may call is recorded.
 */
struct instr_pthread_own {
    bool trying;        /* the call comes from a probe, which records it */
    bool outer;         /* the next call comes from inside of a function that is recorded as a whole */
    uint32_t waiting;   /* INSTR_SYNC_… that began and has not ended; 0: none */
    const void *mutex;  /* that such a wait gave back */
    uintptr_t site;     /* its call */
    uint32_t creations; /* threads that this one has made */
    void (*once)(void); /* what pthread_once is to call */
};
extern _Thread_local struct instr_pthread_own instr_pthread_own INSTR_TLS;

/* Out of line: the calling thread's first event, recording is off, or a wait has been left. */
struct instr_thread *instr_pthread_slow(uint32_t level);

/* Of the calling thread; NULL: a call of this level is not recorded. */
static inline struct instr_thread *instr_pthread_thread(uint32_t level)
{
    struct instr_thread *const t = instr_self;
    const struct instr_pthread_own *const own = &instr_pthread_own;
    if (instr_pthread_level < level || own->trying || instr_inside || instr_own_thread)
        return NULL;
    return INSTR_LIKELY(t != NULL && instr_process.active != INSTR_OFF && own->waiting == 0) ? t : instr_pthread_slow(level);
}

/* Whether the call is a part of one that is recorded: that of C++'s library, which calls this one. */
static inline bool instr_pthread_is_inner(void)
{
    struct instr_pthread_own *const own = &instr_pthread_own;
    if (!own->outer)
        return false;
    own->outer = false;
    return true;
}

/* An event of a lock or a wait, with what it is about and the call. */
static inline void instr_pthread_event(struct instr_thread *t, unsigned id, unsigned kind, const void *object, uintptr_t site)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, id, 1 + 2 * INSTR_ADDR_WORDS);
    if (p == NULL)
        return;
    p = instr_put_addr(instr_put32(p, kind), (uintptr_t)object);
    instr_put_addr(p, site);
    instr_close(&s);
}

/* The same without the call. */
static inline void instr_pthread_event_of(struct instr_thread *t, unsigned id, unsigned kind, const void *object)
{
    instr_event_addr(t, id, kind, object);
}

/* The calling thread begins to wait. `mutex`, if there is one, is given back meanwhile. */
void instr_pthread_wait_begins(struct instr_thread *t, unsigned kind, const void *object, const void *mutex, uintptr_t site);

/* It ends, unless that is recorded already. */
void instr_pthread_wait_ends(struct instr_thread *t);

#endif

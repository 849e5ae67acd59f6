/*
 * Mutual exclusion: critical, atomic, ordered, locks. Waiting is acquire … acquired, holding acquired … released.
 *
 * Where INSTR_PTHREAD asks for waits alone, an OpenMP lock is tried first, as locks of threads are: one that is free leaves no event, and neither does its
 * release (docs/decisions/0024).
 */
#include "core/record.h"
#include "instr/probes.h"

#if INSTR_KEEPS_RUNS
#include "probes/pthread.h"
#define RECORDS_ALL INSTR_LIKELY(instr_pthread_level >= INSTR_PTHREAD_ALL)
#else
#define RECORDS_ALL true
#endif

static void mutex(struct instr_thread *t, unsigned id, unsigned kind, const void *object)
{
    instr_event_addr(t, id, kind, object);
}

#define ACQUIRE(kind, object, call)                              \
    struct instr_thread *t = instr_thread();                     \
    if (t != NULL)                                               \
        mutex(t, INSTR_EV_MUTEX_ACQUIRE, (kind), (object));      \
    call;                                                        \
    if (t != NULL)                                               \
        mutex(t, INSTR_EV_MUTEX_ACQUIRED, (kind), (object))

#define RELEASE(kind, object, call)                              \
    struct instr_thread *t = instr_thread();                     \
    if (t != NULL)                                               \
        mutex(t, INSTR_EV_MUTEX_RELEASED, (kind), (object));     \
    call

void instr_probe_mutex_enter(void (*real)(void), unsigned kind)
{
    ACQUIRE(kind, NULL, real());
}

void instr_probe_mutex_leave(void (*real)(void), unsigned kind)
{
    RELEASE(kind, NULL, real());
}

void instr_probe_critical_name_start(void (*real)(void **), void **lock)
{
    ACQUIRE(INSTR_MUTEX_CRITICAL_NAME, lock, real(lock));
}

void instr_probe_critical_name_end(void (*real)(void **), void **lock)
{
    RELEASE(INSTR_MUTEX_CRITICAL_NAME, lock, real(lock));
}

#if INSTR_KEEPS_RUNS
/* Out of line, so that a free lock costs a try and little more. */
#define TAKES static __attribute__((noinline))

/* The lock is not free, or that cannot be tried. */
TAKES void wait_for(void (*real)(void *), bool tried, unsigned kind, uintptr_t site, void *lock)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL && tried)
        instr_pthread_event(t, INSTR_EV_LOCK_WAIT, kind, lock, site);
    else if (t != NULL)
        mutex(t, INSTR_EV_MUTEX_ACQUIRE, kind, lock);
    real(lock);
    if (t != NULL)
        mutex(t, INSTR_EV_LOCK_WAITED, kind, lock);
}
#else
#define TAKES static inline
#endif

TAKES void take(void (*real)(void *), unsigned kind, void *lock)
{
    ACQUIRE(kind, lock, real(lock));
}

void instr_probe_lock_take(void (*real)(void *), int (*test)(void *), unsigned kind, uintptr_t site, void *lock)
{
#if INSTR_KEEPS_RUNS
    if (instr_pthread_level == INSTR_PTHREAD_WAITS) {
        if (test == NULL || test(lock) == 0)
            wait_for(real, test != NULL, kind, site, lock);
        return;
    }
    if (instr_pthread_level < INSTR_PTHREAD_WAITS) {
        real(lock);
        return;
    }
#else
    (void)test;
    (void)site;
#endif
    take(real, kind, lock);
}

void instr_probe_lock_unset(void (*real)(void *), unsigned kind, void *lock)
{
    if (!RECORDS_ALL) {
        real(lock);
        return;
    }
    RELEASE(kind, lock, real(lock));
}

int instr_probe_lock_test(int (*real)(void *), unsigned kind, void *lock)
{
    if (!RECORDS_ALL)
        return real(lock);
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        mutex(t, INSTR_EV_MUTEX_ACQUIRE, kind, lock);
    const int taken = real(lock);
    if (t != NULL)
        mutex(t, taken ? INSTR_EV_MUTEX_ACQUIRED : INSTR_EV_MUTEX_FAILED, kind, lock);
    return taken;
}

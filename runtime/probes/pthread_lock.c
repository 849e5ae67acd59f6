/*
 * Locks of POSIX and C11 threads. A lock that is free is taken by a try, which takes one event; only where it is not, the thread's wait has a begin
 * and an end.
 *
 * A try and a call that finds the lock free do the same, but that calls with a time refuse one that is none before they look at the lock. Whatever
 * else a try says, the call itself is asked for its answer. Mutexes that cannot be tried have a begin and an end in any case.
 *
 * C11's mutexes are those of POSIX in the C libraries that there are, and 0 is success in both.
 */
#include "core/cold.h"

#include "probes/pthread.h"

#include <errno.h>

#include "platform/platform.h"

/* The thread has it: the last holder of a robust mutex died. */
static inline bool is_taken(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

/* Tries to take a lock. True: `*result` is what the call would have said. */
static inline bool takes(struct instr_thread *t, unsigned kind, uintptr_t site, void *lock, int *result)
{
    instr_pthread_own.trying = true;
    *result = instr_platform_lock_try(kind, lock);
    instr_pthread_own.trying = false;
    if (INSTR_LIKELY(is_taken(*result))) {
        if (instr_pthread_level >= INSTR_PTHREAD_ALL)
            instr_pthread_event(t, INSTR_EV_LOCK_TAKEN, kind, lock, site);
        return true;
    }
    if (*result == INSTR_NO_TRY) /* whether it is free is not known */
        instr_pthread_event_of(t, INSTR_EV_MUTEX_ACQUIRE, kind, lock);
    else
        instr_pthread_event(t, INSTR_EV_LOCK_WAIT, kind, lock, site);
    return false;
}

static void waited(struct instr_thread *t, unsigned kind, const void *lock, int result)
{
    const unsigned had = instr_pthread_level >= INSTR_PTHREAD_ALL ? INSTR_EV_MUTEX_ACQUIRED : INSTR_EV_LOCK_WAITED;
    instr_pthread_event_of(t, is_taken(result) ? had : INSTR_EV_MUTEX_FAILED, kind, lock);
}

int instr_probe_pthread_lock(int (*real)(void *), unsigned kind, uintptr_t site, void *lock)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_WAITS);
    int result;
    if (t == NULL)
        return real(lock);
    if (INSTR_LIKELY(takes(t, kind, site, lock, &result)))
        return result;
    result = real(lock);
    waited(t, kind, lock, result);
    return result;
}

int instr_probe_pthread_timedlock(int (*real)(void *, const void *), unsigned kind, uintptr_t site, void *lock, const void *until)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_WAITS);
    int result;
    if (t == NULL || !instr_platform_is_time(0, until))
        return real(lock, until);
    if (takes(t, kind, site, lock, &result))
        return result;
    result = real(lock, until);
    waited(t, kind, lock, result);
    return result;
}

int instr_probe_pthread_clocklock(int (*real)(void *, int, const void *), unsigned kind, uintptr_t site, void *lock, int clock, const void *until)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_WAITS);
    int result;
    if (t == NULL || !instr_platform_is_time(clock, until))
        return real(lock, clock, until);
    if (takes(t, kind, site, lock, &result))
        return result;
    result = real(lock, clock, until);
    waited(t, kind, lock, result);
    return result;
}

int instr_probe_pthread_trylock(int (*real)(void *), unsigned kind, uintptr_t site, void *lock)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_ALL);
    const int result = real(lock);
    if (t != NULL)
        instr_pthread_event(t, is_taken(result) ? INSTR_EV_LOCK_TAKEN : INSTR_EV_LOCK_BUSY, kind, lock, site);
    return result;
}

int instr_probe_pthread_unlock(int (*real)(void *), unsigned kind, void *lock)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_ALL);
    if (t != NULL)
        instr_pthread_event_of(t, INSTR_EV_MUTEX_RELEASED, kind, lock);
    return real(lock);
}

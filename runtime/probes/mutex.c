/* Mutual exclusion: critical, atomic, ordered, locks. Waiting is acquire … acquired, holding acquired … released. */
#include "core/record.h"
#include "instr/probes.h"

static void mutex(struct instr_thread *t, unsigned id, unsigned kind, const void *object)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, id, 1 + INSTR_ADDR_WORDS);
    if (p != NULL) {
        instr_put_addr(instr_put32(p, kind), (uintptr_t)object);
        instr_close(&s);
    }
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

void instr_probe_lock_set(void (*real)(void *), unsigned kind, void *lock)
{
    ACQUIRE(kind, lock, real(lock));
}

void instr_probe_lock_unset(void (*real)(void *), unsigned kind, void *lock)
{
    RELEASE(kind, lock, real(lock));
}

int instr_probe_lock_test(int (*real)(void *), unsigned kind, void *lock)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        mutex(t, INSTR_EV_MUTEX_ACQUIRE, kind, lock);
    const int taken = real(lock);
    if (t != NULL)
        mutex(t, taken ? INSTR_EV_MUTEX_ACQUIRED : INSTR_EV_MUTEX_FAILED, kind, lock);
    return taken;
}

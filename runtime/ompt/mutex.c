/*
 * Mutual exclusion. A failed test of a lock is told only by the absence of what would follow a success: it is written when the thread's
 * next callback shows that.
 */
#include "ompt/state.h"

void instr_ompt_mutex_event(struct instr_thread *t, unsigned id, unsigned kind, uintptr_t object)
{
    instr_event_addr(t, id, kind, (const void *)object);
}

/* Releases are not told any more. */
static inline bool is_off(void)
{
    return __builtin_expect(__atomic_load_n(&instr_ompt_without_mutexes, __ATOMIC_RELAXED), 0);
}

static unsigned kind_of(int kind)
{
    switch (kind) {
    case OMPT_MUTEX_LOCK:
    case OMPT_MUTEX_TEST_LOCK:
        return INSTR_MUTEX_LOCK;
    case OMPT_MUTEX_NEST_LOCK:
    case OMPT_MUTEX_TEST_NEST_LOCK:
        return INSTR_MUTEX_NEST_LOCK;
    case OMPT_MUTEX_ATOMIC:
        return INSTR_MUTEX_ATOMIC;
    case OMPT_MUTEX_ORDERED:
        return INSTR_MUTEX_ORDERED;
    default:
        return INSTR_MUTEX_CRITICAL_NAME;
    }
}

void instr_ompt_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t object, const void *site)
{
    (void)hint;
    (void)impl;
    (void)site;
    struct instr_thread *t = instr_ompt_enter();
    if (t == NULL || is_off())
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    const unsigned recorded = kind_of(kind);
    instr_ompt_mutex_event(t, INSTR_EV_MUTEX_ACQUIRE, recorded, (uintptr_t)object);
    if (recorded >= INSTR_MUTEX_LOCK) {
        state->wants = INSTR_OMPT_WANTS_LOCK;
        state->kind = recorded;
        state->object = (uintptr_t)object;
    }
}

static void acquired(unsigned kind, uint64_t object)
{
    struct instr_thread *t = instr_self;
    if (t == NULL || is_off())
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    if (state->wants == INSTR_OMPT_WANTS_LOCK && state->object == (uintptr_t)object)
        state->wants = INSTR_OMPT_NOTHING;
    else if (state->wants != INSTR_OMPT_NOTHING)
        instr_ompt_settle(t, state);
    instr_ompt_mutex_event(t, INSTR_EV_MUTEX_ACQUIRED, kind, (uintptr_t)object);
}

void instr_ompt_mutex_acquired(int kind, uint64_t object, const void *site)
{
    (void)site;
    acquired(kind_of(kind), object);
}

void instr_ompt_mutex_released(int kind, uint64_t object, const void *site)
{
    (void)site;
    struct instr_thread *t = instr_ompt_enter();
    if (t != NULL)
        instr_ompt_mutex_event(t, INSTR_EV_MUTEX_RELEASED, kind_of(kind), (uintptr_t)object);
}

/* The owner sets its nest lock once more, or unsets it but for the last time. */
void instr_ompt_nest_lock(int endpoint, uint64_t object, const void *site)
{
    (void)site;
    if (endpoint == OMPT_SCOPE_BEGIN) {
        acquired(INSTR_MUTEX_NEST_LOCK, object);
        return;
    }
    struct instr_thread *t = instr_ompt_enter();
    if (t != NULL)
        instr_ompt_mutex_event(t, INSTR_EV_MUTEX_RELEASED, INSTR_MUTEX_NEST_LOCK, (uintptr_t)object);
}

void instr_ompt_settle(struct instr_thread *t, struct instr_ompt_state *s)
{
    const uint32_t wants = s->wants;
    s->wants = INSTR_OMPT_NOTHING;
    if (wants == INSTR_OMPT_WANTS_LOCK)
        instr_ompt_mutex_event(t, INSTR_EV_MUTEX_FAILED, s->kind, s->object);
    else if (wants == INSTR_OMPT_WANTS_DEPENDS)
        instr_ompt_created(t, s, NULL, 0);
}

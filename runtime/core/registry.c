#include "core/cold.h"

#include "core/registry.h"

#include "core/packed.h"

struct instr_process instr_process __attribute__((aligned(4096)));
_Thread_local struct instr_thread *instr_self INSTR_TLS;
_Thread_local bool instr_inside INSTR_TLS;
_Thread_local bool instr_own_thread INSTR_TLS;
struct instr_registry instr_registry;

#if INSTR_PLATFORM_SMALL
bool instr_lock(void)
{
    instr_platform_lock(INSTR_LOCK_PROCESS);
    return true;
}

void instr_unlock(void)
{
    instr_platform_unlock(INSTR_LOCK_PROCESS);
}
#elif INSTR_ARCH_SMALL
#define LOCK_YIELDS 32u

bool instr_try_lock(void)
{
    return __atomic_exchange_n(&instr_registry.lock, 1, __ATOMIC_ACQUIRE) == 0;
}

/* Where code size counts, those that wait look again and again. */
bool instr_lock(void)
{
    static volatile bool stuck; /* somebody waited in vain: nobody does again, until it was had again */
    uint64_t give_up = 0;
    for (unsigned tries = 0; !instr_try_lock(); tries++) {
        if (tries < LOCK_YIELDS) {
            instr_platform_yield();
            continue;
        }
        const uint64_t now = instr_platform_monotonic_ns();
        if (give_up == 0)
            give_up = now + INSTR_LOCK_NS;
        if (stuck || now > give_up) {
            stuck = true;
            return false;
        }
        instr_platform_pause(); /* who has the lock may have a lower priority, and this processor alone */
    }
    stuck = false;
    return true;
}

void instr_unlock(void)
{
    __atomic_store_n(&instr_registry.lock, 0, __ATOMIC_RELEASE);
}
#else
/* Waiters sleep: who has the lock may have a lower priority, and this processor alone; and there may be thousands, when as many threads begin at once. */
enum { FREE, TAKEN, WANTED /* and somebody sleeps */ };

#define STUCK_NS 2000000u

static uint32_t set_lock(uint32_t value)
{
    return __atomic_exchange_n(&instr_registry.lock, value, __ATOMIC_ACQ_REL);
}

bool instr_try_lock(void)
{
    return set_lock(TAKEN) == FREE || set_lock(WANTED) == FREE; /* who sleeps is still seen to */
}

bool instr_lock(void)
{
    static volatile bool stuck; /* somebody waited in vain: nobody does for long again, until it was had again */
    uint64_t give_up = 0;
    uint32_t turns = 0;
    for (bool had = set_lock(TAKEN) == FREE; !had && set_lock(WANTED) != FREE;) {
        const uint64_t now = instr_platform_monotonic_ns();
        if (give_up == 0 || turns != instr_registry.turns) {
            turns = instr_registry.turns;
            give_up = now + (stuck ? STUCK_NS : INSTR_LOCK_NS);
        } else if (now >= give_up) {
            stuck = true;
            return false;
        }
        instr_platform_sleep_on(&instr_registry.lock, WANTED, give_up - now);
    }
    stuck = false;
    instr_registry.turns++;
    return true;
}

void instr_unlock(void)
{
    if (set_lock(FREE) == WANTED)
        instr_platform_wake(&instr_registry.lock);
}

#endif

bool instr_is_inside(void)
{
    return instr_inside;
}

#if UINTPTR_MAX > 0xffffffffu
uintptr_t instr_code_base;
#endif

uint32_t instr_process_clock(void)
{
    return instr_registry.clock;
}

void instr_lose_unattached(void)
{
#if INSTR_PLATFORM_SMALL
    instr_platform_lose(); /* in an interrupt there is no lock, and old processors add to no word in one step */
#else
    (void)instr_count(&instr_registry.lost_unattached, 1);
#endif
}

uint64_t instr_lost_unattached(void)
{
#if INSTR_PLATFORM_SMALL
    return instr_registry.lost_unattached + instr_platform_lost();
#else
    return instr_registry.lost_unattached;
#endif
}

#include "core/cold.h"

#include "core/late.h"

#include <string.h>

#include "core/packet.h"
#include "core/process.h"
#include "core/record.h"

/* The least that a handler's frames lie below what it interrupted, and the most that frames of the runtime lie below the call of an event. On
 * x86-64 a signal's frame has 128 bytes that the compiler may use and some 900 of registers; elsewhere it is larger. */
#define HANDLER_BYTES 768u

#if INSTR_ARCH_POSITIVE
bool instr_guard_is_left(const char *limit)
{
    uintptr_t low;
    uintptr_t high;
    bool on_it;
    if (limit == NULL)
        return false;
    const uintptr_t writer = ~(uintptr_t)limit;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const bool is_handlers = instr_platform_signal_stack(&low, &high, &on_it) && writer >= low && writer < high;
    if (is_handlers != on_it)
        return is_handlers; /* on the handlers' stack nobody is left: its frames are given up; a handler that is on it interrupts */
    /* Addresses of two stacks say nothing: a program may switch stacks of its own in a handler, and come back. */
    if (!is_handlers && (!instr_platform_own_stack(&low, &high) || here < low || here >= high || writer < low || writer >= high))
        return false;
    return here + HANDLER_BYTES >= writer;
}
#endif

#if INSTR_HAS_LATE

/* A place, or NULL. The thread's next event looks for it from now on, also if the handler never fills it. */
static struct instr_late_event *take(struct instr_thread *t)
{
    struct instr_late *const late = &t->late;
    t->room = INSTR_LOOK;
    INSTR_BARRIER();
    uint32_t taken = __atomic_load_n(&late->taken, __ATOMIC_RELAXED);
    do {
        if (taken - late->written >= INSTR_LATE_EVENTS)
            return NULL;
    } while (!__atomic_compare_exchange_n(&late->taken, &taken, taken + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return &late->events[taken % INSTR_LATE_EVENTS];
}

bool instr_late(struct instr_thread *t, unsigned id, const uint32_t *words, unsigned count)
{
    const char *const limit = t->limit;
    if (!instr_is_busy(limit) || instr_process.active == INSTR_OFF || instr_guard_is_left(limit))
        return false;
    struct instr_late_event *const event = count <= INSTR_LATE_WORDS && t->turning == 0 && t->slow == 0 ? take(t) : NULL;
    if (event != NULL) {
        event->ticks = instr_ticks(instr_process_clock());
        event->interrupted = t->cursor;
        event->packet = t->next_seq;
        event->id = id;
        memcpy(event->words, words, 4 * (size_t)count);
        INSTR_BARRIER();
        event->complete = count + 1;
    } else {
        (void)instr_count(&t->lost_nested, 1);
    }
    instr_packet_nested(t);
    return true;
}

/* The time of an event that is in the window. */
static uint64_t ticks_at(const char *at)
{
    uint32_t words[2];
    memcpy(words, at, sizeof words);
#if INSTR_BIG_ENDIAN
    return (uint64_t)(words[0] & 0xffffffu) << 32 | words[1];
#else
    return ((uint64_t)words[1] << 32 | words[0]) >> 8;
#endif
}

/* The least time that an event may have: not before the packet, and not before the event that it interrupted, which stands before it. */
static uint64_t earliest(const struct instr_thread *t, const struct instr_late_event *event)
{
    uint64_t least = t->packet_begin;
    if (event->packet == t->next_seq && (uintptr_t)event->interrupted < (uintptr_t)t->cursor) {
        const uint64_t mask = (UINT64_C(1) << 56) - 1;
        const uint64_t before = (event->ticks & ~mask) | ticks_at(event->interrupted);
        if (before > least && before - least < mask / 2)
            least = before;
    }
    return least;
}

/* Names of the events that have one stand in their first words. */
static const char *name_of(const struct instr_late_event *event)
{
    uintptr_t address = 0;
    if (event->id != INSTR_EV_REGION_BEGIN && event->id != INSTR_EV_COUNTER)
        return NULL;
    memcpy(&address, event->words, sizeof address);
    return (const char *)address;
}

/* `last`: the time of the one before, which a handler that was itself interrupted may have read later. */
static bool write_one(struct instr_thread *t, const struct instr_late_event *event, uint64_t *last)
{
    const char *const name = name_of(event);
    for (unsigned tries = 0; tries < 2; tries++) {
        uint64_t ticks = earliest(t, event);
        if (event->ticks > ticks)
            ticks = event->ticks;
        if (*last > ticks)
            ticks = *last;
        *last = ticks;
        if ((name == NULL || instr_is_defined(t, name) || instr_packet_string(t, name, ticks)) &&
            instr_packet_put(t, event->id, ticks, event->words, event->complete - 1))
            return true;
        if (!instr_packet_may_turn(t) || !instr_packet_turn(t))
            break;
        *last = instr_ticks(instr_process_clock()); /* behind what a new packet begins with */
    }
    return false;
}

void instr_late_write(struct instr_thread *t)
{
    struct instr_late *const late = &t->late;
    uint64_t last = 0;
    while (late->written != __atomic_load_n(&late->taken, __ATOMIC_RELAXED)) {
        struct instr_late_event *const event = &late->events[late->written % INSTR_LATE_EVENTS];
        /* One that is not complete belongs to a handler that was left for good. */
        if (event->complete == 0 || !write_one(t, event, &last))
            instr_lose(t, 1);
        event->complete = 0;
        late->written++;
        t->settled++;
        INSTR_TELL(t, settled);
    }
    t->room = t->slot_end;
}
#endif

#include "core/cold.h"

#include "core/late.h"

#include <string.h>

#include "core/packet.h"
#include "core/process.h"
#include "core/record.h"
#include "core/switches.h"

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

/* Names of the events that have one stand in their first words. */
static const char *name_of(const struct instr_late_event *event)
{
    uintptr_t address = 0;
    switch (event->id) {
    case INSTR_EV_REGION_BEGIN:
    case INSTR_EV_COUNTER:
    case INSTR_EV_FUNCTION_BEGIN:
    case INSTR_EV_FUNCTION_RESUME:
        break;
    default:
        return NULL;
    }
    memcpy(&address, event->words, sizeof address);
    return (const char *)address;
}

/* Its time may be before that of what it interrupted, or of another handler that it was interrupted by: then it has that one's. */
static bool write_one(struct instr_thread *t, const struct instr_late_event *event)
{
    const char *const name = name_of(event);
    for (unsigned tries = 0; tries < 2; tries++) {
        if ((name == NULL || instr_is_defined(t, name) || instr_packet_string(t, name, event->ticks)) &&
            instr_packet_put(t, event->id, event->ticks, event->words, event->complete - 1))
            return true;
        if (!instr_packet_may_turn(t) || !instr_packet_turn(t))
            break;
    }
    return false;
}

void instr_late_write(struct instr_thread *t)
{
    struct instr_late *const late = &t->late;
    while (late->written != __atomic_load_n(&late->taken, __ATOMIC_RELAXED)) {
        struct instr_late_event *const event = &late->events[late->written % INSTR_LATE_EVENTS];
        /* One that is not complete belongs to a handler that was left for good. */
        if (event->complete == 0 || !write_one(t, event))
            instr_lose(t, 1);
        event->complete = 0;
        late->written++;
        t->settled++;
        INSTR_TELL(t, settled);
    }
    t->room = t->slot_end;
    (void)instr_switches_plan(t);
}
#endif

/* Threads begin to be recorded, and end; the windows that they take and leave (docs/decisions/0019). */
#include "core/cold.h"

#include <string.h>

#include "core/packet.h"
#include "core/process.h"
#include "core/record.h"
#include "core/registry.h"
#include "core/settings.h"
#include "core/switches.h"
#include "core/thread_time.h"
#include "sensors/optional.h"
#include "sinks/sink.h"

/* Whether a window's stream goes on with the next thread. */
bool instr_streams_are_shared(void)
{
#if INSTR_HAS_TAKEOVER
    return instr_sink_shares();
#else
    return false;
#endif
}

/* A window that an ended thread left, or NULL. The lock is held. */
static struct instr_thread *take_left(void)
{
    struct instr_thread *const t = instr_registry.left;
    if (t != NULL)
        instr_registry.left = t->next_left;
    return t;
}

/* Makes a window: a file, or plain memory. */
static struct instr_thread *make_window(uint32_t number)
{
    const size_t bytes = INSTR_WINDOW_HEADER_BYTES + (size_t)instr_settings.buffer;
    char *block = instr_sink_window(number, bytes);
    const bool mapped = block != NULL;
    if (mapped)
        block -= INSTR_PRIVATE_BYTES;
    else
        block = instr_platform_memory(INSTR_PRIVATE_BYTES + bytes);
    if (block == NULL)
        return NULL;
    struct instr_thread *const t = (struct instr_thread *)(void *)block;
    t->mapped = mapped;
    t->file_number = number;
#if INSTR_HAS_TAKEOVER /* no lock is held: the system gives both pages now, which may take it a while */
    volatile uint32_t *const window = &INSTR_WINDOW_OF(t)->magic;
    window[0] = window[INSTR_WINDOW_HEADER_BYTES / sizeof *window] = 0;
#endif
    return t;
}

#if !INSTR_HAS_TAKEOVER
static struct instr_thread *new_window(bool *locked)
{
    (void)locked;
    return make_window(instr_registry.windows++);
}
#define memory_is_short() false
#else
#define FIRST_PAUSE_NS 10000000u
#define LONGEST_PAUSE_NS 1000000000u

/*
 * Until when no window is asked for, by CLOCK_MONOTONIC, and how long that is. Where memory is limited, locked, or its maps are used up, each try costs up to some milliseconds, and each event of
 * a thread without a window would be one.
 */
static volatile uint64_t refused_until;
static uint32_t refused_for;

static bool memory_is_short(void)
{
    const uint64_t until = refused_until;
    return until != 0 && instr_platform_monotonic_ns() < until;
}

/* The lock is held. */
static void answered(bool refused)
{
    if (!refused)
        refused_for = 0;
    else if (refused_for == 0)
        refused_for = FIRST_PAUSE_NS;
    else if (refused_for < LONGEST_PAUSE_NS)
        refused_for *= 2;
    refused_until = refused ? instr_platform_monotonic_ns() + refused_for : 0;
}

/*
 * A new window. The lock, which is held, is given up while its file is made; `locked`: whether it could be had again. NULL when there is no
 * memory, or nothing is recorded any more.
 */
static struct instr_thread *new_window(bool *locked)
{
    const uint32_t number = instr_registry.windows++;
    (void)instr_count(&instr_registry.making, 1);
    instr_unlock();
    struct instr_thread *const t = make_window(number);
    *locked = instr_lock();
    (void)instr_count(&instr_registry.making, UINT32_MAX); /* one less, whether or not the lock could be had */
    if (*locked && (t == NULL || refused_for != 0))
        answered(t == NULL);
    if (*locked && instr_registry.life == INSTR_LIFE_RUNNING)
        return t;
    if (t != NULL && t->mapped)
        instr_sink_window_remove(number);
    return NULL;
}
#endif

/* A window for a new thread. The lock is held, and afterwards where `locked` says so. */
static struct instr_thread *take_window(bool *locked)
{
    struct instr_thread *t = take_left();
    if (t != NULL)
        return t;
    t = new_window(locked);
    if (t != NULL) {
        t->next = instr_registry.all;
        instr_registry.all = t;
    }
    return t;
}

/* Tells the host of a window that is in use from now on. Until its last line it is free. */
static void show_window(struct instr_thread *t)
{
#if !INSTR_PLATFORM_SMALL /* there it is the window */
    memcpy(INSTR_WINDOW_OF(t), t, sizeof(struct instr_window));
#endif
    INSTR_BARRIER();
    t->state = INSTR_WINDOW_OWNED;
    INSTR_TELL(t, state);
}

#if INSTR_PLATFORM_SMALL
/* Names are the only thing by which a reader knows a task of the program again: its id is another one in each run. */
static void append_name(struct instr_thread *t)
{
    uint32_t words[INSTR_CFG_NAME_BYTES / 4 + INSTR_ADDR_WORDS] = {0};
    instr_platform_thread_name((char *)words, INSTR_CFG_NAME_BYTES);
    const size_t length = strlen((const char *)words);
    if (length == 0)
        return;
    const uint32_t *const end = instr_put_addr(words + length / 4 + 1, t->os_tid);
    (void)instr_packet_append(t, INSTR_EV_THREAD_NAME, words, (unsigned)(end - words));
}
#endif

/* Forgets all of a window's earlier threads. */
static void clear_window(struct instr_thread *t)
{
    struct instr_thread *const next = t->next;
    const uint32_t mapped = t->mapped;
    const uint32_t number = t->file_number;
    memset(t, 0, sizeof *t);
    t->next = next;
    t->mapped = mapped;
    t->file_number = number;
    t->version = INSTR_WINDOW_VERSION;
    t->header_bytes = INSTR_WINDOW_HEADER_BYTES;
    t->word_bytes = sizeof(void *);
    t->size = instr_settings.buffer;
    t->slots = instr_settings.slots;
    t->base = (char *)INSTR_WINDOW_OF(t) + INSTR_WINDOW_HEADER_BYTES;
    instr_packet_clear(t);
}

/* Starts the window's next packet, which is the calling thread's. */
static void open_window(struct instr_thread *t, bool is_left, uint32_t os_tid)
{
    t->index = instr_registry.threads++;
    t->os_tid = os_tid;
    t->task_thread = t->task_seq = t->region_thread = t->region_seq = INSTR_NONE;
#if INSTR_HAS_TAKEOVER
    if (is_left) {
        instr_packet_take_over(t);
        t->state = INSTR_WINDOW_OWNED; /* the host sees no other state since the window was made */
        return;
    }
#else
    (void)is_left;
#endif
    t->stream = instr_streams_are_shared() ? t->file_number : t->index;
    instr_packet_open(t);
    INSTR_BARRIER();
    t->magic = INSTR_WINDOW_MAGIC;
    show_window(t);
}

static void start_thread(struct instr_thread *t, uint32_t os_tid, uint32_t flags)
{
    const bool is_left = INSTR_HAS_TAKEOVER && t->state == INSTR_WINDOW_LEFT;
    if (is_left) /* what the window and its stream hold stays */
        memset(&t->limit, 0, offsetof(struct instr_thread, next) - offsetof(struct instr_thread, limit));
    else
        clear_window(t);
    open_window(t, is_left, os_tid);
    const uint32_t words[2] = {os_tid, flags};
    (void)instr_packet_append(t, INSTR_EV_THREAD_BEGIN, words, 2);
#if INSTR_PLATFORM_SMALL
    if ((flags & INSTR_THREAD_PROCESSOR) == 0)
        append_name(t);
#endif
    instr_append_clock_sync(t);
    t->own_events = t->events;
    t->events = 0;
    INSTR_BARRIER();
    t->limit = t->slot_end;
}

/* The last events of a thread. */
static void append_last(struct instr_thread *t)
{
    instr_forget_time(t); /* it may be that of an event which is never completed */
    instr_late_write_all(t);
    if (INSTR_HAS_SAMPLING) {
        instr_sampling_stop_thread(t);
        instr_sampling_end_thread(t);
    }
    if (t->counters != NULL)
        instr_counters_close(t);
    if (INSTR_HAS_STACK)
        instr_stack_end(t);
    instr_thread_time_end(t);
#if INSTR_KEEPS_RUNS
    if (instr_pthread_end != NULL)
        instr_pthread_end(t);
#endif
    instr_append_clock_sync(t);
    (void)instr_packet_append(t, INSTR_EV_THREAD_END, NULL, 0);
}

/* All that the window holds was handed over, or the sink refused it. What is kept stays as it is, on disk or in the image: the host finds it there. */
void instr_window_settle(struct instr_thread *t, bool handed_over)
{
    t->kept = !handed_over || instr_sink_keeps();
    if (!t->kept)
        t->state = instr_streams_are_shared() ? INSTR_WINDOW_LEFT : INSTR_WINDOW_FREE;
}

/* The next thread may have the window, if it is not kept. The lock is held. */
static void leave_window(struct instr_thread *t)
{
    instr_registry.events += t->appended;
    t->appended = 0;
    if (t->kept) {
        if (t->mapped)
            return;
        (void)instr_count(&instr_registry.lost_unattached, (uint32_t)(t->discarded - t->told));
        for (uint32_t i = 0; i < t->slots; i++)
            (void)instr_count(&instr_registry.lost_unattached, t->slot_events[i]);
        return;
    }
    if (t->state == INSTR_WINDOW_FREE)
        INSTR_TELL(t, state);
    t->next_left = instr_registry.left;
    instr_registry.left = t;
}

void instr_thread_end(struct instr_thread *t)
{
    append_last(t);
    instr_window_settle(t, instr_packet_finish(t));
    leave_window(t);
}

#if !INSTR_HAS_TAKEOVER
/* The calling thread gives its window up. The lock is held. */
static bool give_up(struct instr_thread *t)
{
    instr_thread_end(t);
    return true;
}

static void empty_window(struct instr_thread *t)
{
    (void)t;
}
#else
/* The calling thread gives its window up. False: it has to be emptied, without the lock. The lock is held. */
static bool give_up(struct instr_thread *t)
{
    append_last(t);
    if (instr_packet_leave(t) && instr_streams_are_shared()) {
        instr_window_settle(t, true);
        leave_window(t);
        return true;
    }
    t->turning = 1; /* whoever ends the process meanwhile waits; when that is in vain, the window stays as it is */
    return false;
}

static void empty_window(struct instr_thread *t)
{
    bool handed_over = true;
    if (instr_streams_are_shared())
        instr_packet_empty(t);
    else
        handed_over = instr_packet_hand_over(t);
    instr_window_settle(t, handed_over);
    INSTR_BARRIER();
    t->turning = 0;
    t->limit = t->slot_end; /* nobody waits any more */
    if (instr_lock()) {
        if (instr_registry.life == INSTR_LIFE_RUNNING)
            leave_window(t);
        instr_unlock();
    }
}
#endif

struct instr_thread *instr_attach(void)
{
    if (instr_process.active == INSTR_OFF)
        return NULL;
    /* In a signal handler, while its thread is being attached; where there is no lock to be had; and soon after there was no memory. */
    if (instr_inside || instr_platform_in_interrupt() || memory_is_short()) {
        instr_lose_unattached();
        return NULL;
    }
    struct instr_guest guest;
    struct instr_thread *t = NULL;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    if (instr_self != NULL) { /* a handler that came before this line has attached its thread */
        instr_platform_leave(&guest);
        return instr_self;
    }
    instr_inside = true;
    bool locked = instr_lock();
    const bool begins = locked && instr_registry.life == INSTR_LIFE_CHILD;
    if (!locked) {
        instr_lose_unattached();
    } else if (instr_registry.life == INSTR_LIFE_RUNNING || (begins && instr_begin_child())) {
        t = take_window(&locked);
        if (t == NULL)
            instr_lose_unattached();
        else
            start_thread(t, instr_platform_tid(),
                         instr_own_thread                           ? INSTR_THREAD_OWN
                         : instr_platform_is_initial_thread() ? INSTR_THREAD_INITIAL
                                                              : 0u);
        if (t != NULL && instr_process.points != 0 && !instr_own_thread)
            instr_counters_open(t);
    } else {
        instr_process.active = INSTR_OFF;
    }
    if (locked)
        instr_unlock();
    if (t != NULL) {
        instr_platform_watch_thread(t);
        if (!instr_own_thread)
            instr_thread_time_begin(t);
        if (!instr_own_thread)
            instr_switches_begin_thread(t);
        if (INSTR_HAS_STACK && instr_settings.stack)
            instr_stack_begin(t);
        if (INSTR_HAS_SAMPLING && !instr_own_thread)
            instr_sampling_begin_thread(t);
        instr_self = t; /* last: what the C library allocates for the two above is not the program's */
    }
    instr_inside = false;
    if (t != NULL && begins && instr_process.points != 0)
        instr_sensors_started(t);
    instr_platform_leave(&guest);
    return t;
}

struct instr_thread *instr_attach_own(void)
{
    instr_own_thread = true;
    return instr_attach();
}

struct instr_thread *instr_attach_stream(uint32_t os_tid, uint32_t flags)
{
    struct instr_guest guest;
    struct instr_thread *t = NULL;
    if (instr_inside || instr_process.active == INSTR_OFF)
        return NULL;
    instr_inside = true;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    bool locked = instr_lock();
    if (locked) {
        if (instr_registry.life == INSTR_LIFE_RUNNING && (t = take_window(&locked)) != NULL)
            start_thread(t, os_tid, flags);
        if (t != NULL)
            t->ownerless = 1;
    }
    if (locked)
        instr_unlock();
    instr_inside = false;
    instr_platform_leave(&guest);
    return t;
}

void instr_break_lock(void)
{
    instr_registry.dying = true;
    instr_inside = false;
    instr_unlock();
}

#if INSTR_ARCH_HAS_PROCESSOR
/* The thread runs on another processor than at its last event. */
void instr_moved(struct instr_thread *t, uint32_t processor)
{
    t->processor = processor;
    instr_event1(t, INSTR_EV_PROCESSOR, processor);
    t->processor = processor; /* a new packet asks again, and this event was it */
}

struct instr_thread *instr_thread_now(void)
{
    struct instr_thread *t = instr_self;
    if (!INSTR_LIKELY(t != NULL && instr_process.active != INSTR_OFF))
        t = instr_attach();
    if (t != NULL && !instr_is_busy(t->limit)) {
        const uint32_t processor = instr_arch_processor();
        if (!INSTR_LIKELY(processor == t->processor))
            instr_moved(t, processor);
    }
    return t;
}
#endif

void instr_thread_ended(struct instr_thread *t)
{
    if (instr_self != t || instr_inside)
        return;
    if (instr_platform_pid() != instr_registry.pid) { /* a child made by a raw system call: the window is its parent's */
        instr_self = NULL;
        return;
    }
    struct instr_guest guest;
    bool left = true;
    instr_inside = true;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    instr_thread_time_last(t);
    struct instr_switches *const switches = instr_switches_leave(t);
    if (instr_lock()) {
        if (instr_registry.life == INSTR_LIFE_RUNNING && t->state == INSTR_WINDOW_OWNED) {
            t->limit = NULL;
            INSTR_BARRIER();
            left = give_up(t);
        }
        instr_unlock();
    }
    if (!left)
        empty_window(t);
    instr_switches_end_thread(switches);
    instr_self = NULL;
    instr_inside = false; /* a signal that waited comes with the next line, and its handler may record */
    instr_platform_leave(&guest);
}

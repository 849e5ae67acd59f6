#include "core/cold.h"

#include "core/process.h"

#include <stdatomic.h>
#include <string.h>

#include "arch/arch.h"
#include "core/metadata.h"
#include "core/packed.h"
#include "core/packet.h"
#include "core/record.h"
#include "core/settings.h"
#include "core/thread_time.h"
#include "sensors/optional.h"
#include "sinks/sink.h"

#if !INSTR_PLATFORM_SMALL
#include "library/table.h"
#endif

struct instr_process instr_process __attribute__((aligned(4096)));
_Thread_local struct instr_thread *instr_self __attribute__((tls_model("initial-exec")));

/* Set while this thread is inside the runtime's slow paths, so that whatever they call cannot attach it again. */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* Set on a thread of the runtime's own. */
static _Thread_local bool own_thread __attribute__((tls_model("initial-exec")));

enum life { LIFE_BEFORE, LIFE_RUNNING, LIFE_CHILD, LIFE_CLOSED };

static struct {
    atomic_flag lock; /* registry, sink and metadata; never taken in the hot path; small systems have one of their own */
    enum life life;
    uint32_t clock; /* INSTR_ON_TICKS or INSTR_ON_SYSTEM */
    uint32_t threads; /* next thread index */
    uint32_t windows; /* next window file number */
    uint32_t pid;     /* whose trace this is: a child of vfork or of a raw system call must not close it */
    struct instr_thread *all;
    struct instr_thread *left; /* windows that a thread may have: the one that was left last comes first */
    uint32_t making; /* windows whose files are being made, without the lock */
    volatile uint32_t lost_unattached;
    uint64_t events; /* of packets that the sink took from threads that ended */
    bool has_executable;
    bool stopped; /* by instr_stop */
    bool dying;   /* whoever is in the middle of an event will not come back */
    uint32_t points; /* instr_process.points, which is cleared in children */
    uint64_t modules;
    uint64_t frequency;
    uint32_t processors; /* of struct instr_metadata */
    uint32_t processor_quota;
    struct instr_clock_pair start;
    char executable[INSTR_CFG_PATH_BYTES];
} process = {.lock = ATOMIC_FLAG_INIT};

#define LOCK_YIELDS 32u
#define LOCK_NS 1000000000u

#if INSTR_PLATFORM_SMALL
static bool lock(void)
{
    instr_platform_lock(INSTR_LOCK_PROCESS);
    return true;
}

static void unlock(void)
{
    instr_platform_unlock(INSTR_LOCK_PROCESS);
}
#else
/*
 * False: it cannot be had. Who has it may be gone (a handler on a stack of its own left it by a jump when this one overflowed), or wait for what
 * the caller has: the lock of the dynamic linker, whose list is read under ours.
 */
static bool lock(void)
{
    static volatile bool stuck; /* somebody waited in vain: nobody does again, until it was had again */
    uint64_t give_up = 0;
    for (unsigned tries = 0; atomic_flag_test_and_set_explicit(&process.lock, memory_order_acquire); tries++) {
        if (tries < LOCK_YIELDS) {
            instr_platform_yield();
            continue;
        }
        const uint64_t now = instr_platform_monotonic_ns();
        if (give_up == 0)
            give_up = now + LOCK_NS;
        if (stuck || now > give_up) {
            stuck = true;
            return false;
        }
        instr_platform_pause(); /* who has the lock may have a lower priority, and this processor alone */
    }
    stuck = false;
    return true;
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&process.lock, memory_order_release);
}
#endif

bool instr_is_inside(void)
{
    return inside;
}

#if UINTPTR_MAX > 0xffffffffu
uintptr_t instr_code_base;
#endif

uint32_t instr_process_clock(void)
{
    return process.clock;
}

void instr_lose_unattached(void)
{
#if INSTR_PLATFORM_SMALL
    instr_platform_lose(); /* in an interrupt there is no lock, and old processors add to no word in one step */
#else
    (void)instr_count(&process.lost_unattached, 1);
#endif
}

uint64_t instr_lost_unattached(void)
{
#if INSTR_PLATFORM_SMALL
    return process.lost_unattached + instr_platform_lost();
#else
    return process.lost_unattached;
#endif
}

/* ---- clock ---- */

void instr_read_clocks(struct instr_clock_pair *pair)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        const uint64_t before = instr_ticks(process.clock);
        const uint64_t monotonic = instr_platform_monotonic_ns();
        const uint64_t after = instr_ticks(process.clock);
        if (after - before < best) {
            best = after - before;
            pair->ticks = before + (after - before) / 2;
            pair->monotonic_ns = monotonic;
        }
    }
    pair->realtime_ns = instr_platform_realtime_ns();
}

/* ticks × 10^9 / ns without a 128-bit type (32-bit targets have none). */
static uint64_t frequency_of(uint64_t ticks, uint64_t ns)
{
    while (ticks > UINT64_MAX / 1000000000u) {
        ticks >>= 1;
        ns >>= 1;
    }
    return ns == 0 ? 0 : (ticks * 1000000000u + ns / 2) / ns;
}

/* A first estimate, good to some 10^-5, from 0.1 ms; the end of the run gives the exact figure. */
static uint64_t estimate_frequency(const struct instr_clock_pair *start)
{
    struct instr_clock_pair now;
    if (process.clock == INSTR_ON_SYSTEM)
        return 1000000000u;
    do {
        now.monotonic_ns = instr_platform_monotonic_ns();
    } while (now.monotonic_ns - start->monotonic_ns < 100000u);
    instr_read_clocks(&now);
    return frequency_of(now.ticks - start->ticks, now.monotonic_ns - start->monotonic_ns);
}

/* Whether a window's stream goes on with the next thread. */
static bool streams_are_shared(void)
{
#if INSTR_HAS_TAKEOVER
    return instr_sink_shares();
#else
    return false;
#endif
}

static bool write_metadata(bool closed)
{
#if INSTR_HAS_THREAD_TIME
    if (process.processors == 0) {
        process.processors = instr_platform_processors();
        process.processor_quota = instr_platform_processor_quota();
    }
#endif
    const struct instr_metadata m = {
        .executable = process.has_executable ? process.executable : NULL,
        .start = process.start,
        .frequency = process.frequency,
        .closed = closed,
        .windows = closed && streams_are_shared() ? process.all : NULL,
        .processors = process.processors,
        .processor_quota = process.processor_quota,
    };
    process.modules = instr_platform_module_generation();
    return instr_metadata_write(&m);
}

#if !INSTR_PLATFORM_SMALL
void instr_modules_changed(void)
{
    /* Never waits: whoever holds the lock may be waiting for this thread (quiesce). The next packet tries again. */
    if (inside)
        return;
    inside = true;
    if (!atomic_flag_test_and_set_explicit(&process.lock, memory_order_acquire)) {
        if (process.life == LIFE_RUNNING && instr_platform_module_generation() != process.modules)
            (void)write_metadata(false);
        unlock();
    }
    inside = false;
}
#endif

/* ---- threads ---- */

/* A window that an ended thread left, or NULL. The lock is held. */
static struct instr_thread *take_left(void)
{
    struct instr_thread *const t = process.left;
    if (t != NULL)
        process.left = t->next_left;
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
    return t;
}

#if !INSTR_HAS_TAKEOVER
static struct instr_thread *new_window(bool *locked)
{
    (void)locked;
    return make_window(process.windows++);
}
#else
/*
 * A new window. The lock, which is held, is given up while its file is made; `locked`: whether it could be had again. NULL when there is no
 * memory, or nothing is recorded any more.
 */
static struct instr_thread *new_window(bool *locked)
{
    const uint32_t number = process.windows++;
    process.making++;
    unlock();
    struct instr_thread *const t = make_window(number);
    *locked = lock();
    if (!*locked)
        return NULL;
    process.making--;
    if (process.life == LIFE_RUNNING)
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
        t->next = process.all;
        process.all = t;
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
    t->index = process.threads++;
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
    t->stream = streams_are_shared() ? t->file_number : t->index;
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

#if INSTR_PLATFORM_SMALL
/* There are no processes. */
static bool begin_child(void)
{
    return false;
}
#else
/* A forked child records its first event: its trace begins. The lock is held. */
static bool begin_child(void)
{
    if (!instr_sink_open_child(instr_platform_pid())) {
        process.life = LIFE_CLOSED;
        return false;
    }
    instr_platform_random(instr_uuid, sizeof instr_uuid);
    process.life = LIFE_RUNNING;
    (void)write_metadata(false);
    return true;
}
#endif

struct instr_thread *instr_attach(void)
{
    if (instr_process.active == INSTR_OFF)
        return NULL;
    if (inside || instr_platform_in_interrupt()) { /* a signal handler, while its thread is being attached; or there is no lock to be had */
        instr_lose_unattached();
        return NULL;
    }
    struct instr_guest guest;
    struct instr_thread *t = NULL;
    inside = true;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    bool locked = lock();
    const bool begins = locked && process.life == LIFE_CHILD;
    if (!locked) {
        instr_lose_unattached();
    } else if (process.life == LIFE_RUNNING || (begins && begin_child())) {
        t = take_window(&locked);
        if (t == NULL)
            instr_lose_unattached();
        else
            start_thread(t, instr_platform_tid(),
                         own_thread                           ? INSTR_THREAD_OWN
                         : instr_platform_is_initial_thread() ? INSTR_THREAD_INITIAL
                                                              : 0u);
        if (t != NULL && instr_process.points != 0 && !own_thread)
            instr_counters_open(t);
    } else {
        instr_process.active = INSTR_OFF;
    }
    if (locked)
        unlock();
    if (t != NULL) {
        instr_platform_watch_thread(t);
        if (!own_thread)
            instr_thread_time_begin(t);
        if (INSTR_HAS_STACK && instr_settings.stack)
            instr_stack_begin(t);
        if (INSTR_HAS_SAMPLING && !own_thread)
            instr_sampling_begin_thread(t);
        instr_self = t; /* last: what the C library allocates for the two above is not the program's */
    }
    inside = false;
    if (t != NULL && begins && instr_process.points != 0)
        instr_sensors_started(t);
    instr_platform_leave(&guest);
    return t;
}

struct instr_thread *instr_attach_own(void)
{
    own_thread = true;
    return instr_attach();
}

struct instr_thread *instr_attach_stream(uint32_t os_tid, uint32_t flags)
{
    struct instr_guest guest;
    struct instr_thread *t = NULL;
    if (inside || instr_process.active == INSTR_OFF)
        return NULL;
    inside = true;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    bool locked = lock();
    if (locked) {
        if (process.life == LIFE_RUNNING && (t = take_window(&locked)) != NULL)
            start_thread(t, os_tid, flags);
        if (t != NULL)
            t->ownerless = 1;
    }
    if (locked)
        unlock();
    instr_platform_leave(&guest);
    inside = false;
    return t;
}

void instr_break_lock(void)
{
    process.dying = true;
    inside = false;
    unlock();
}

#if INSTR_ARCH_HAS_PROCESSOR
/* The thread runs on another processor than at its last event. */
void instr_moved(struct instr_thread *t, uint32_t processor)
{
    t->processor = processor;
    instr_event1(t, INSTR_EV_PROCESSOR, processor);
    t->processor = processor; /* a new packet asks again, and this event was it */
}

struct instr_thread *instr_thread(void)
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
    instr_append_clock_sync(t);
    (void)instr_packet_append(t, INSTR_EV_THREAD_END, NULL, 0);
}

/* All that the window holds was handed over, or the sink refused it. What is kept stays as it is, on disk or in the image: the host finds it there. */
static void settle_window(struct instr_thread *t, bool handed_over)
{
    t->kept = !handed_over || instr_sink_keeps();
    if (!t->kept)
        t->state = streams_are_shared() ? INSTR_WINDOW_LEFT : INSTR_WINDOW_FREE;
}

/* The next thread may have the window, if it is not kept. The lock is held. */
static void leave_window(struct instr_thread *t)
{
    process.events += t->appended;
    t->appended = 0;
    if (t->kept) {
        if (t->mapped)
            return;
        (void)instr_count(&process.lost_unattached, (uint32_t)(t->discarded - t->told));
        for (uint32_t i = 0; i < t->slots; i++)
            (void)instr_count(&process.lost_unattached, t->slot_events[i]);
        return;
    }
    if (t->state == INSTR_WINDOW_FREE)
        INSTR_TELL(t, state);
    t->next_left = process.left;
    process.left = t;
}

static void end_thread(struct instr_thread *t)
{
    append_last(t);
    settle_window(t, instr_packet_finish(t));
    leave_window(t);
}

#if !INSTR_HAS_TAKEOVER
/* The calling thread gives its window up. The lock is held. */
static bool give_up(struct instr_thread *t)
{
    end_thread(t);
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
    if (instr_packet_leave(t) && streams_are_shared()) {
        settle_window(t, true);
        leave_window(t);
        return true;
    }
    t->turning = 1; /* whoever ends the process meanwhile waits; when that is in vain, the window stays as it is */
    return false;
}

static void empty_window(struct instr_thread *t)
{
    bool handed_over = true;
    if (streams_are_shared())
        instr_packet_empty(t);
    else
        handed_over = instr_packet_hand_over(t);
    settle_window(t, handed_over);
    INSTR_BARRIER();
    t->turning = 0;
    t->limit = t->slot_end; /* nobody waits any more */
    if (lock()) {
        if (process.life == LIFE_RUNNING)
            leave_window(t);
        unlock();
    }
}
#endif

void instr_thread_ended(struct instr_thread *t)
{
    if (instr_self != t || inside)
        return;
    if (instr_platform_pid() != process.pid) { /* a child made by a raw system call: the window is its parent's */
        instr_self = NULL;
        return;
    }
    struct instr_guest guest;
    bool left = true;
    inside = true;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    instr_thread_time_last(t);
    if (lock()) {
        if (process.life == LIFE_RUNNING && t->state == INSTR_WINDOW_OWNED) {
            t->limit = NULL;
            INSTR_BARRIER();
            left = give_up(t);
        }
        unlock();
    }
    if (!left)
        empty_window(t);
    instr_self = NULL;
    instr_platform_leave(&guest);
    inside = false;
}

/* ---- process ---- */

/* What `instr_process.active` is while something is recorded. */
static uint32_t switched_on(void)
{
    return process.clock | (instr_settings.stack ? (uint32_t)INSTR_ON_STACK : 0u);
}

void instr_process_each(void (*action)(struct instr_thread *t))
{
    if (inside || instr_platform_pid() != process.pid)
        return;
    inside = true;
    if (lock()) {
        for (struct instr_thread *t = process.all; t != NULL; t = t->next)
            if (t->state == INSTR_WINDOW_OWNED)
                action(t);
        unlock();
    }
    inside = false;
}

bool instr_switch(bool on)
{
    const uint32_t wanted = on ? switched_on() : (uint32_t)INSTR_OFF;
    if (inside || instr_platform_pid() != process.pid)
        return false;
    struct instr_guest guest;
    inside = true; /* a signal handler must not wait for a lock that its own thread holds */
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    const bool locked = lock();
    const bool changed =
        locked && (process.life == LIFE_RUNNING || process.life == LIFE_CHILD) && instr_process.active != wanted;
    if (changed) {
        instr_process.active = wanted;
        process.stopped = !on;
    }
    if (locked)
        unlock();
    instr_platform_leave(&guest);
    inside = false;
    return changed;
}

static bool busy(const struct instr_thread *t)
{
    char *volatile const *limit = &t->limit;
    return t != instr_self && instr_is_busy(*limit);
}

/*
 * Waits, for a bounded time, until no other thread is in the middle of an event. Recording is off already. A thread that is still
 * busy then (stopped, or writing to a dead disk) keeps its window: nobody else touches it.
 */
static void quiesce(void)
{
    const uint64_t give_up = instr_platform_monotonic_ns() + (process.dying ? 10000000u : 1000000000u);
    instr_platform_fence_all();
    for (struct instr_thread *t = process.all; t != NULL; t = t->next)
        while (t->state == INSTR_WINDOW_OWNED && !t->kept && busy(t) && instr_platform_monotonic_ns() < give_up)
            instr_platform_yield();
#if !INSTR_ARCH_ORDERED_STORES
    instr_platform_fence_all(); /* whose guard was seen to be free may have stored the cursor before it, and that is not seen yet */
#endif
}

static void finish_threads(void)
{
    for (struct instr_thread *t = process.all; t != NULL; t = t->next) {
        if (t->state == INSTR_WINDOW_OWNED && !t->kept && !t->turning && (!busy(t) || process.dying)) {
            t->limit = NULL;
            end_thread(t);
        } else if (INSTR_HAS_TAKEOVER && t->state == INSTR_WINDOW_LEFT) {
            settle_window(t, instr_packet_hand_over(t));
        }
        process.events += t->appended; /* also if it is in the middle of something for ever */
        t->appended = 0;
        if (t->state == INSTR_WINDOW_OWNED || t->kept)
            continue;
        if (INSTR_HAS_TAKEOVER && t->discarded != t->told) { /* the last packets of ended threads were refused: none says it */
            if (t->mapped) {
                t->kept = 1;
                continue;
            }
            (void)instr_count(&process.lost_unattached, (uint32_t)(t->discarded - t->told));
        }
        if (t->mapped)
            instr_sink_window_remove(t->file_number);
    }
}

#if !INSTR_HAS_TAKEOVER
static bool wait_for_makers(void)
{
    return true;
}
#else
/*
 * Nothing begins any more. Waits, for a bounded time, for windows whose files are being made: who makes one sees that the process ends, and
 * removes it. False: the lock is lost.
 */
static bool wait_for_makers(void)
{
    const uint64_t give_up = instr_platform_monotonic_ns() + LOCK_NS;
    bool locked = true;
    process.life = LIFE_CLOSED;
    while (process.making != 0 && locked && instr_platform_monotonic_ns() < give_up) {
        unlock();
        instr_platform_yield();
        locked = lock();
    }
    return locked;
}
#endif

/* The metadata cannot say what was lost without a stream, as on a full disk: the next best place is a window that is kept. */
static void tell_in_window(void)
{
#if INSTR_HAS_TAKEOVER
    for (struct instr_thread *t = process.all; t != NULL; t = t->next)
        if (t->kept && t->mapped) {
            instr_lose(t, instr_lost_unattached());
            return;
        }
#endif
}

void instr_finish(void)
{
    if (inside || instr_platform_pid() != process.pid)
        return;
    struct instr_guest guest;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    if (process.life == LIFE_RUNNING && instr_process.points != 0)
        instr_sensors_finish(instr_self);
    inside = true;
    bool locked = lock();
    if (!locked)
        instr_process.active = INSTR_OFF; /* the windows stay as they are: the host finds them */
    if (locked && process.life == LIFE_RUNNING) {
        struct instr_clock_pair now;
        instr_process.active = INSTR_OFF;
        instr_process.points = 0;
        if (INSTR_HAS_SAMPLING)
            instr_sampling_end();
        quiesce();
        locked = wait_for_makers();
        instr_read_clocks(&now);
        if (now.monotonic_ns - process.start.monotonic_ns > 1000000u && process.clock == INSTR_ON_TICKS)
            process.frequency = frequency_of(now.ticks - process.start.ticks, now.monotonic_ns - process.start.monotonic_ns);
        if (instr_sink_is_line())
            (void)write_metadata(true); /* what follows is of no use without it */
        finish_threads();
        process.life = LIFE_CLOSED;
        if (!write_metadata(true))
            tell_in_window();
        if (instr_sink_is_line())
            (void)write_metadata(true);
        instr_sink_end(process.events);
    }
    if (locked)
        unlock();
    instr_platform_leave(&guest);
    inside = false;
}

#if !INSTR_PLATFORM_SMALL
void instr_forked(void)
{
    atomic_flag_clear(&process.lock);
    inside = false;
    instr_self = NULL;
    /* Probes on this stack still hold the parent's window, which is shared with the parent: put zeroed memory in its place. A thread
     * without a window, as zeros say, refuses every event. */
    for (struct instr_thread *t = process.all, *next; t != NULL; t = next) {
        next = t->next;
        if (t->mapped)
            instr_platform_replace(INSTR_WINDOW_OF(t), INSTR_WINDOW_HEADER_BYTES + (size_t)instr_settings.buffer);
        memset(t, 0, sizeof *t);
    }
    process.all = NULL;
    process.threads = 0;
    process.left = NULL;
    process.windows = 0;
    process.making = 0;
    process.lost_unattached = 0;
    if (process.life == LIFE_RUNNING || process.life == LIFE_CHILD) {
        process.life = LIFE_CHILD;
        process.pid = instr_platform_pid();
        instr_read_clocks(&process.start);
        instr_process.active = process.stopped ? (uint32_t)INSTR_OFF : switched_on();
        instr_process.points = process.points;
        if (INSTR_SENSORS_LINKED)
            instr_sensors_forked();
    }
}
#endif

/* Prints a line, if the user asked for it. */
static void note(const char *what, const char *why)
{
    if (!instr_settings.verbose)
        return;
    instr_platform_say("instr: note: ");
    instr_platform_say(what);
    instr_platform_say(why);
    instr_platform_say("\n");
}

static void begin(void)
{
    char host_name[INSTR_CFG_PATH_BYTES];
    const char *name = "program";
    process.has_executable = instr_platform_executable(process.executable, sizeof process.executable);
    if (process.has_executable) {
        const char *slash = strrchr(process.executable, '/');
        name = slash != NULL ? slash + 1 : process.executable;
    }
    size_t length = strlen(name);
    if (length >= sizeof host_name)
        length = sizeof host_name - 1;
    memcpy(host_name, name, length);
    host_name[length] = '\0';
    if (!instr_sink_open(instr_settings.trace, host_name)) {
        note("not traced: ", instr_sink_trouble != NULL ? instr_sink_trouble : "the trace directory cannot be made");
        return;
    }
    if (instr_settings.trouble == NULL)
        instr_settings.trouble = instr_sink_trouble;
    process.clock = INSTR_ARCH_HAS_TICKS && instr_platform_ticks_ok() ? INSTR_ON_TICKS : INSTR_ON_SYSTEM;
    instr_platform_random(instr_uuid, sizeof instr_uuid);
#if UINTPTR_MAX > 0xffffffffu
    instr_code_base = instr_platform_code();
#endif
    instr_read_clocks(&process.start);
    process.frequency = estimate_frequency(&process.start);
    process.pid = instr_platform_pid();
    process.life = LIFE_RUNNING;
    process.points = INSTR_SENSORS_LINKED ? instr_sensors_begin() : 0;
    instr_process.points = process.points;
    if (!instr_sink_is_line() || instr_settings.policy == INSTR_POLICY_STREAM)
        (void)write_metadata(false); /* else nothing is printed that needs it before the end */
    instr_platform_watch_process(&instr_process, sizeof instr_process);
    if (INSTR_HAS_SAMPLING)
        instr_sampling_begin();
    instr_process.active = switched_on();
}

#if INSTR_PLATFORM_SMALL
#define FOR_LIBRARIES static /* there are none */
#else
#define FOR_LIBRARIES
#endif

/* The state of the heap, where calls of it are recorded. */
FOR_LIBRARIES void instr_process_heap(void)
{
#if !INSTR_PLATFORM_SMALL /* there the probe may be in the program for libraries alone */
    if (&instr_memory_wrapped == NULL && !instr_libraries_have(INSTR_LIBRARY_MEMORY))
        return;
#endif
    if (instr_memory_heap != NULL)
        instr_memory_heap();
}

FOR_LIBRARIES void instr_process_begin(void)
{
    struct instr_guest guest;
#if !INSTR_PLATFORM_SMALL
    static bool begun;
    if (begun) /* by a library, whose constructors come before the program's */
        return;
    begun = true;
#endif
    instr_platform_enter(&guest);
    instr_settings_read();
    if (instr_settings.enabled)
        begin();
    if (instr_settings.trouble != NULL)
        note("", instr_settings.trouble);
    if (instr_process.active != INSTR_OFF) {
        struct instr_thread *const t = instr_attach();
        if (t != NULL && instr_process.points != 0)
            instr_sensors_started(t);
        if (t != NULL)
            instr_process_heap();
        if (instr_process.active != INSTR_OFF)
            instr_platform_started();
    }
#if !INSTR_PLATFORM_SMALL
    if (process.life == LIFE_BEFORE)
        instr_platform_unwatch(); /* nothing is ever recorded */
#endif
    instr_platform_leave(&guest);
}

FOR_LIBRARIES void instr_process_end(void)
{
    instr_process_heap();
    instr_finish();
    instr_platform_unwatch();
}

#ifndef INSTR_SHARED /* libinstr.so begins with the library that asked for it, whose configuration it takes */
/* Before the program's own constructors (they may record), after the C library's. */
__attribute__((constructor(101))) static void instr_begin(void)
{
    instr_process_begin();
}
#endif

/* After everything else of this object has ended. */
__attribute__((destructor(101))) static void instr_end(void)
{
#if !INSTR_PLATFORM_SMALL
    if (instr_libraries_stay != NULL && instr_libraries_stay())
        return; /* the last of them ends the process */
#endif
    instr_process_end();
}

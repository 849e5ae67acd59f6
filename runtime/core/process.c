#include "core/cold.h"

#include "core/process.h"

#include <string.h>

#include "arch/arch.h"
#include "core/given_config.h"
#include "core/metadata.h"
#include "core/packed.h"
#include "core/packet.h"
#include "core/record.h"
#include "core/registry.h"
#include "core/settings.h"
#include "core/switches.h"
#include "sensors/optional.h"
#include "sinks/sink.h"

#if !INSTR_PLATFORM_SMALL
#include "library/table.h"
#endif

/* ---- clock ---- */

void instr_read_clocks(struct instr_clock_pair *pair)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        const uint64_t before = instr_ticks(instr_registry.clock);
        const uint64_t monotonic = instr_platform_monotonic_ns();
        const uint64_t after = instr_ticks(instr_registry.clock);
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
    if (instr_registry.clock == INSTR_ON_SYSTEM)
        return 1000000000u;
    do {
        now.monotonic_ns = instr_platform_monotonic_ns();
    } while (now.monotonic_ns - start->monotonic_ns < 100000u);
    instr_read_clocks(&now);
    return frequency_of(now.ticks - start->ticks, now.monotonic_ns - start->monotonic_ns);
}

/* ---- metadata ---- */

static bool write_metadata(bool closed)
{
#if INSTR_HAS_THREAD_TIME
    if (instr_registry.processors == 0) {
        instr_registry.processors = instr_platform_processors();
        instr_registry.processor_quota = instr_platform_processor_quota();
    }
#endif
    const struct instr_metadata m = {
        .executable = instr_registry.has_executable ? instr_registry.executable : NULL,
        .start = instr_registry.start,
        .frequency = instr_registry.frequency,
        .closed = closed,
#if INSTR_KEEPS_RUNS
        .empty = closed && instr_registry.empty,
#endif
        .windows = closed && instr_streams_are_shared() ? instr_registry.all : NULL,
        .processors = instr_registry.processors,
        .processor_quota = instr_registry.processor_quota,
    };
    instr_registry.modules = instr_platform_module_generation();
    return instr_metadata_write(&m);
}

#if !INSTR_PLATFORM_SMALL
void instr_modules_changed(void)
{
    /* Never waits: whoever holds the lock may be waiting for this thread (quiesce). The next packet tries again. */
    if (instr_inside)
        return;
    instr_inside = true;
    if (instr_try_lock()) {
        if (instr_registry.life == INSTR_LIFE_RUNNING && instr_platform_module_generation() != instr_registry.modules)
            (void)write_metadata(false);
        instr_unlock();
    }
    instr_inside = false;
}
#endif

#if INSTR_PLATFORM_SMALL
/* There are no processes. */
bool instr_begin_child(void)
{
    return false;
}
#else
/* A forked child records its first event: its trace begins. The lock is held. */
bool instr_begin_child(void)
{
    if (!instr_sink_open_child(instr_platform_pid())) {
        instr_registry.life = INSTR_LIFE_CLOSED;
        return false;
    }
#if INSTR_KEEPS_RUNS
    if (instr_platform_find_clock())
        instr_read_clocks(&instr_registry.start);
#endif
    instr_platform_random(instr_uuid, sizeof instr_uuid);
    instr_registry.life = INSTR_LIFE_RUNNING;
    (void)write_metadata(false);
    return true;
}
#endif

/* ---- the process ---- */

/* What `instr_process.active` is while something is recorded. */
static uint32_t switched_on(void)
{
    return instr_registry.clock | (instr_settings.stack ? (uint32_t)INSTR_ON_STACK : 0u) | (INSTR_ARCH_TICKS_CALL ? (uint32_t)INSTR_ON_CALL : 0u);
}

void instr_process_each(void (*action)(struct instr_thread *t))
{
    if (instr_inside || instr_platform_pid() != instr_registry.pid)
        return;
    instr_inside = true;
    if (instr_lock()) {
        for (struct instr_thread *t = instr_registry.all; t != NULL; t = t->next)
            if (t->state == INSTR_WINDOW_OWNED)
                action(t);
        instr_unlock();
    }
    instr_inside = false;
}

bool instr_switch(bool on)
{
    const uint32_t wanted = on ? switched_on() : (uint32_t)INSTR_OFF;
    if (instr_inside || instr_platform_pid() != instr_registry.pid)
        return false;
    struct instr_guest guest;
    instr_inside = true; /* a signal handler must not wait for a lock that its own thread holds */
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    const bool locked = instr_lock();
    const bool changed =
        locked && (instr_registry.life == INSTR_LIFE_RUNNING || instr_registry.life == INSTR_LIFE_CHILD) && instr_process.active != wanted;
    if (changed) {
        instr_process.active = wanted;
        instr_switches_switch(on);
        instr_registry.stopped = !on;
    }
    if (locked)
        instr_unlock();
    instr_inside = false;
    instr_platform_leave(&guest);
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
    const uint64_t give_up = instr_platform_monotonic_ns() + (instr_registry.dying ? 10000000u : 1000000000u);
    instr_platform_fence_all();
    for (struct instr_thread *t = instr_registry.all; t != NULL; t = t->next)
        while (t->state == INSTR_WINDOW_OWNED && !t->kept && busy(t) && instr_platform_monotonic_ns() < give_up)
            instr_platform_yield();
#if !INSTR_ARCH_ORDERED_STORES
    instr_platform_fence_all(); /* whose guard was seen to be free may have stored the cursor before it, and that is not seen yet */
#endif
}

static void finish_threads(void)
{
    for (struct instr_thread *t = instr_registry.all; t != NULL; t = t->next) {
        if (t->state == INSTR_WINDOW_OWNED && !t->kept && !t->turning && (!busy(t) || instr_registry.dying)) {
            t->limit = NULL;
            instr_thread_end(t);
        } else if (INSTR_HAS_TAKEOVER && t->state == INSTR_WINDOW_LEFT) {
            instr_window_settle(t, instr_packet_hand_over(t));
        }
        instr_registry.events += t->appended; /* also if it is in the middle of something for ever */
        t->appended = 0;
        if (t->state == INSTR_WINDOW_OWNED || t->kept)
            continue;
        if (INSTR_HAS_TAKEOVER && t->discarded != t->told) { /* the last packets of ended threads were refused: none says it */
            if (t->mapped) {
                t->kept = 1;
                continue;
            }
            (void)instr_count(&instr_registry.lost_unattached, (uint32_t)(t->discarded - t->told));
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
    const uint64_t give_up = instr_platform_monotonic_ns() + INSTR_LOCK_NS;
    bool locked = true;
    instr_registry.life = INSTR_LIFE_CLOSED;
    while (instr_registry.making != 0 && locked && instr_platform_monotonic_ns() < give_up) {
        instr_unlock();
        instr_platform_yield();
        locked = instr_lock();
    }
    return locked;
}
#endif

/* The metadata cannot say what was lost without a stream, as on a full disk: the next best place is a window that is kept, the
 * last one what the sink has for it. */
static void tell_in_window(void)
{
#if INSTR_HAS_TAKEOVER
    for (struct instr_thread *t = instr_registry.all; t != NULL; t = t->next)
        if (t->kept && t->mapped) {
            instr_lose(t, instr_lost_unattached());
            return;
        }
    if (instr_registry.lost_unattached != 0)
        instr_sink_lost(instr_registry.lost_unattached);
#endif
}

#if INSTR_KEEPS_RUNS
void instr_has_forked(void)
{
    instr_registry.begun = NULL;
}

/* Whether the initial thread is the only one, and recorded no event since the program's own code began. */
static bool is_empty(void)
{
    const struct instr_thread *const t = instr_registry.all;
    return instr_registry.begun != NULL && instr_registry.windows == 1 && instr_registry.threads == 1 && t != NULL && t->cursor == instr_registry.begun &&
           t->appended == 0 && t->discarded == 0 && t->nested == 0 && instr_registry.lost_unattached == 0;
}
#endif

void instr_finish(void)
{
    if (instr_inside || instr_platform_pid() != instr_registry.pid)
        return;
    struct instr_guest guest;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
#if INSTR_KEEPS_RUNS
    if (instr_registry.life == INSTR_LIFE_RUNNING)
        instr_registry.empty = is_empty();
#endif
    if (instr_registry.life == INSTR_LIFE_RUNNING && instr_process.points != 0)
        instr_sensors_finish(instr_self);
    instr_inside = true;
    bool locked = instr_lock();
    if (!locked)
        instr_process.active = INSTR_OFF; /* the windows stay as they are: the host finds them */
    if (locked && instr_registry.life == INSTR_LIFE_RUNNING) {
        struct instr_clock_pair now;
        instr_process.active = INSTR_OFF;
        instr_process.points = 0;
        if (INSTR_HAS_SAMPLING)
            instr_sampling_end();
        quiesce();
        locked = wait_for_makers();
        instr_read_clocks(&now);
        if (now.monotonic_ns - instr_registry.start.monotonic_ns > 1000000u && instr_registry.clock == INSTR_ON_TICKS)
            instr_registry.frequency = frequency_of(now.ticks - instr_registry.start.ticks, now.monotonic_ns - instr_registry.start.monotonic_ns);
        if (instr_sink_is_line())
            (void)write_metadata(true); /* what follows is of no use without it */
        finish_threads();
        instr_switches_finish(); /* behind the threads' last events: it is none of their time */
        instr_registry.life = INSTR_LIFE_CLOSED;
        if (!write_metadata(true))
            tell_in_window();
        if (instr_sink_is_line())
            (void)write_metadata(true);
        instr_sink_end(instr_registry.events);
#if INSTR_KEEPS_RUNS
        if (instr_registry.empty)
            instr_sink_give_way(instr_libraries_have(INSTR_LIBRARY_PRELOADED));
#endif
    }
    if (locked)
        instr_unlock();
    instr_platform_leave(&guest);
    instr_inside = false;
}

#if !INSTR_PLATFORM_SMALL
void instr_forked(void)
{
    instr_registry.lock = 0;
    instr_inside = false;
    instr_self = NULL;
    /* Probes on this stack still hold the parent's window, which is shared with the parent: put zeroed memory in its place. A thread
     * without a window, as zeros say, refuses every event. */
    bool apart = true;
    for (struct instr_thread *t = instr_registry.all, *next; t != NULL; t = next) {
        next = t->next;
        if (t->mapped && !instr_platform_replace(INSTR_WINDOW_OF(t), INSTR_WINDOW_HEADER_BYTES + (size_t)instr_settings.buffer))
            apart = false;
        memset(t, 0, sizeof *t);
    }
    if (!apart) { /* what this process records could get into its parent's trace */
        instr_process.active = INSTR_OFF;
        instr_registry.life = INSTR_LIFE_CLOSED;
    }
    instr_registry.all = NULL;
#if INSTR_KEEPS_RUNS
    instr_registry.begun = NULL;
#endif
    instr_registry.threads = 0;
    instr_registry.left = NULL;
    instr_registry.windows = 0;
    instr_registry.making = 0;
    instr_registry.lost_unattached = 0;
    instr_switches_forked();
    if (instr_registry.life == INSTR_LIFE_RUNNING || instr_registry.life == INSTR_LIFE_CHILD) {
        instr_registry.life = INSTR_LIFE_CHILD;
        instr_registry.pid = instr_platform_pid();
        instr_read_clocks(&instr_registry.start);
        instr_process.active = instr_registry.stopped ? (uint32_t)INSTR_OFF : switched_on();
        instr_process.points = instr_registry.points;
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
    instr_registry.has_executable = instr_platform_executable(instr_registry.executable, sizeof instr_registry.executable);
    if (instr_registry.has_executable) {
        const char *slash = strrchr(instr_registry.executable, '/');
        name = slash != NULL ? slash + 1 : instr_registry.executable;
    }
    size_t length = strlen(name);
    if (length >= sizeof host_name)
        length = sizeof host_name - 1;
    memcpy(host_name, name, length);
    host_name[length] = '\0';
#if INSTR_KEEPS_RUNS
    instr_platform_keep_command();
#endif
    if (!instr_sink_open(instr_settings.trace, host_name)) {
        note("not traced: ", instr_sink_trouble != NULL ? instr_sink_trouble : "the trace directory cannot be made");
#if INSTR_KEEPS_RUNS
        if (instr_sink_where[0] != '\0')
            note("its place: ", instr_sink_where);
#endif
        return;
    }
#if INSTR_KEEPS_RUNS
    if (instr_sink_where[0] != '\0')
        note("traced: ", instr_sink_where);
#endif
    if (instr_sink_trouble != NULL)
        instr_settings_complain(instr_sink_trouble);
    instr_registry.clock = INSTR_ARCH_HAS_TICKS && instr_platform_ticks_ok() ? INSTR_ON_TICKS : INSTR_ON_SYSTEM;
    instr_platform_random(instr_uuid, sizeof instr_uuid);
#if UINTPTR_MAX > 0xffffffffu
    instr_code_base = instr_platform_code();
#endif
#if INSTR_KEEPS_RUNS
    (void)instr_platform_find_clock();
#endif
    instr_switches_begin(); /* may take some milliseconds, which are none of the program's */
    instr_read_clocks(&instr_registry.start);
    instr_registry.frequency = estimate_frequency(&instr_registry.start);
    instr_registry.pid = instr_platform_pid();
    instr_registry.life = INSTR_LIFE_RUNNING;
    instr_registry.points = INSTR_SENSORS_LINKED ? instr_sensors_begin() : 0;
    instr_process.points = instr_registry.points;
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

/* The program begins its trace itself, and has not yet. */
static bool is_paused(void)
{
#if INSTR_KEEPS_RUNS
    return instr_registry.paused;
#else
    return false;
#endif
}

/* The trace has begun, unless there is none: the first events. */
static void begin_events(void)
{
    if (instr_process.active == INSTR_OFF)
        return;
    struct instr_thread *const t = instr_attach();
    if (t != NULL && instr_process.points != 0)
        instr_sensors_started(t);
    if (t != NULL)
        instr_process_heap();
    if (instr_process.active != INSTR_OFF)
        instr_platform_started();
#if INSTR_KEEPS_RUNS
    if (t != NULL && instr_process.points == 0 && !instr_settings.stack) /* readings are worth a trace of their own */
        instr_registry.begun = t->cursor;
#endif
}

#if INSTR_KEEPS_RUNS
/* Behind the lock. False: a setting is refused. */
static bool start(const char *config, bool *begins)
{
    const bool waits = instr_registry.paused;
    if (config != NULL && !instr_given_take(config, waits))
        return false;
    if (waits) {
        if (config != NULL)
            instr_settings_read();
        if (instr_settings.enabled)
            begin();
        instr_registry.paused = false;
        *begins = true;
    } else if (config != NULL) {
        instr_settings_read_again();
    }
    return true;
}

bool instr_process_start(const char *config)
{
    bool taken = true;
    bool begins = false;
    struct instr_guest guest;
    if (instr_inside || (config == NULL && !instr_registry.paused))
        return true;
    instr_inside = true;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    if (instr_lock()) {
        taken = start(config, &begins);
        instr_unlock();
    }
    instr_inside = false;
    if (begins && instr_settings.trouble != NULL)
        note("", instr_settings.trouble);
    if (begins) {
        begin_events();
        instr_registry.begun = NULL; /* the program wants this trace */
    }
    instr_platform_leave(&guest);
    return taken;
}
#endif

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
#if INSTR_KEEPS_RUNS
    instr_registry.paused = instr_settings.enabled && instr_settings.paused;
    if (instr_registry.paused) /* while there is one thread, and before handlers and keys of the program's */
        instr_platform_watch_process(&instr_process, sizeof instr_process);
#endif
    if (instr_settings.enabled && !is_paused())
        begin();
    if (instr_settings.trouble != NULL)
        note("", instr_settings.trouble);
    begin_events();
#if !INSTR_PLATFORM_SMALL
    if (instr_registry.life == INSTR_LIFE_BEFORE && !is_paused())
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

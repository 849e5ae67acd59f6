#include "core/cold.h"

#include "core/switches.h"

#if INSTR_HAS_SWITCHES

#include <string.h>

#include "core/packet.h"
#include "core/record.h"
#include "core/registry.h"
#include "core/settings.h"

/* Packet space of a stream. */
#define BUFFER 16384u

/*
 * Some 30 us are spent on a thread's ring. So many threads have one in any case; further ones as long as that takes less than a part of 256 of the
 * time since the program began: thousands of threads that live some microseconds are not slowed down.
 */
#define ALWAYS 32u
#define SHARE 256u
#define MOST_COST 50000u /* ns that count for one ring: the thread may have been preempted meanwhile */

static struct {
    const char *why;        /* there are none: for the metadata; NULL: they are recorded */
    bool begun;
    uint64_t begin_ns;
    uint32_t streams;
    volatile uint32_t opened;
    volatile uint32_t spent_us;
    struct instr_switches *all;
    struct instr_switches *free;
} state;

__extension__ typedef unsigned __int128 wide;

void instr_switches_begin(void)
{
    state.begun = true;
    state.begin_ns = instr_platform_monotonic_ns();
    if (!instr_settings.switches)
        state.why = "off";
    else if (instr_platform_switches_launched())
        state.why = "no: left to instr run";
    else if (instr_settings.policy != INSTR_POLICY_STREAM)
        state.why = "no: recorded with INSTR_POLICY=stream only";
    else if (instr_settings.sink != INSTR_SINK_FILE)
        state.why = "no: recorded into files only";
    else
        state.why = instr_platform_switches_refused(instr_settings.switches_forced);
}

const char *instr_switches_state(void)
{
    return state.why != NULL ? state.why : "perf";
}

/* ---- a thread's stream ---- */

static void put(struct instr_switches *s, uint64_t ticks, uint32_t kind, uint32_t number)
{
    const uint32_t words[2] = {kind, number};
    struct instr_thread *const t = s->stream;
    if (!instr_packet_put(t, INSTR_EV_SCHEDULED, ticks, words, 2) &&
        !(instr_packet_turn(t) && instr_packet_put(t, INSTR_EV_SCHEDULED, ticks, words, 2)))
        instr_lose(t, 1);
}

/* The first thing that is known after a time of which nothing was recorded tells what was before it. */
static void resume(struct instr_switches *s, bool was_running)
{
    if (s->resumed == 0)
        return;
    put(s, s->resumed, was_running ? INSTR_SCHEDULED_RUNNING : INSTR_SCHEDULED_UNKNOWN, was_running ? INSTR_NONE : 0);
    s->resumed = 0;
}

static uint64_t ticks_of(const struct instr_switches *s, uint64_t ns)
{
    const bool before = ns < s->pair.monotonic_ns;
    const uint64_t distance = before ? s->pair.monotonic_ns - ns : ns - s->pair.monotonic_ns;
    const uint64_t ticks = (uint64_t)(((wide)distance * s->rate) >> 32);
    return before ? s->pair.ticks - ticks : s->pair.ticks + ticks;
}

/* Records are lost from here on. */
static void lose(struct instr_switches *s, uint32_t count)
{
    s->records += count;
    put(s, instr_last_time(s->stream), INSTR_SCHEDULED_UNKNOWN, count);
}

/* The calling thread's ring is full: how many records it has lost. The system says so with the next record, and there may be none. */
static uint32_t foretell(struct instr_switches *s)
{
    const uint64_t all = 2 * (instr_platform_switches_count() - s->counted);
    s->foretold = all > s->records && all - s->records < UINT32_MAX ? (uint32_t)(all - s->records) : 0;
    return s->foretold;
}

/* Writes what the ring holds. `own`: the thread itself does, and runs. */
static void take_all(struct instr_switches *s, bool own)
{
    struct instr_switch found;
    struct instr_clock_pair now;
    const bool was_full = *s->ring.head - s->ring.tail > s->ring.size - 64;
    instr_read_clocks(&now);
    if (now.monotonic_ns - s->pair.monotonic_ns >= 1000)
        s->rate = (uint64_t)(((wide)(now.ticks - s->pair.ticks) << 32) / (now.monotonic_ns - s->pair.monotonic_ns));
    while (instr_platform_switches_next(&s->ring, &found)) {
        if (found.state == INSTR_SCHEDULED_UNKNOWN) {
            lose(s, found.number > s->foretold ? found.number - s->foretold : 0);
            s->foretold = 0;
            s->resumed = 0;
            continue;
        }
        s->records++;
        resume(s, found.state != INSTR_SCHEDULED_RUNNING);
        put(s, ticks_of(s, found.ns), found.state, found.number);
    }
    instr_platform_switches_done(&s->ring, false);
    if (was_full) {
        lose(s, own ? foretell(s) : 0);
        s->resumed = own ? now.ticks : 0;
    }
    if (own)
        resume(s, true);
    s->pair = now;
}

/* Nobody waits here: whoever comes second has nothing to do. */
static bool try_take(struct instr_switches *s)
{
    return __atomic_exchange_n(&s->taking, 1, __ATOMIC_ACQUIRE) == 0;
}

static void untake(struct instr_switches *s)
{
    __atomic_store_n(&s->taking, 0, __ATOMIC_RELEASE);
}

/* ---- a thread begins and ends ---- */

/* Of an ended thread, or new; NULL: there is no memory. The registry's lock is held. */
static struct instr_switches *get(void)
{
    struct instr_switches *s = state.free;
    if (s != NULL) {
        state.free = s->free;
        return s;
    }
    const size_t before = INSTR_PRIVATE_BYTES + INSTR_WINDOW_HEADER_BYTES + BUFFER;
    char *const block = instr_platform_memory(before + sizeof *s);
    if (block == NULL)
        return NULL;
    s = (struct instr_switches *)(void *)(block + before);
    memset(s, 0, sizeof *s);
    memset(block, 0, INSTR_PRIVATE_BYTES);
    struct instr_thread *const t = (struct instr_thread *)(void *)block;
    t->size = BUFFER;
    t->slots = 1;
    t->base = (char *)INSTR_WINDOW_OF(t) + INSTR_WINDOW_HEADER_BYTES;
    t->behind = 1;
    t->no_switches = 1;
    t->stream = state.streams++ | INSTR_SWITCHES_BIT;
    instr_packet_clear(t);
    s->stream = t;
    t->next = state.all != NULL ? state.all->stream : NULL;
    s->next = state.all;
    state.all = s;
    return s;
}

/* Begins the packet of a thread, which runs. */
static void begin_stream(struct instr_switches *s, const struct instr_thread *of, uint32_t processor)
{
    struct instr_thread *const t = s->stream;
    instr_read_clocks(&s->pair);
    s->rate = ((uint64_t)1 << 32) / 1000 * (instr_registry.frequency / 1000000u);
    s->resumed = 0;
    s->stopped = 0;
    s->counted = instr_platform_switches_count();
    s->records = 0;
    s->foretold = 0;
    t->index = of->index | INSTR_SWITCHES_BIT;
    t->os_tid = of->os_tid;
    t->task_thread = t->task_seq = t->region_thread = t->region_seq = INSTR_NONE;
    if (t->last_ticks < s->pair.ticks)
        t->last_ticks = s->pair.ticks;
    instr_packet_open(t);
    put(s, t->last_ticks, INSTR_SCHEDULED_RUNNING, processor);
    t->own_events = t->events;
    t->events = 0;
}

/* The last event, and what the stream is to the next thread. The calling thread, or the process, ends. */
static void end_stream(struct instr_switches *s)
{
    put(s, instr_ticks(instr_process_clock()), INSTR_SCHEDULED_UNKNOWN, 0);
    (void)instr_packet_leave(s->stream);
}

static bool is_affordable(uint64_t now)
{
    return instr_settings.switches_forced || state.opened < ALWAYS || state.opened < 2 * instr_registry.processors ||
           (now - state.begin_ns) / SHARE / 1000 >= state.spent_us;
}

static void spend(uint64_t since)
{
    const uint64_t ns = instr_platform_monotonic_ns() - since;
    (void)instr_count(&state.spent_us, (uint32_t)((ns < MOST_COST ? ns : MOST_COST) / 1000 + 1));
}

/* `wait`: for the registry's lock, which the caller does not hold. */
static void begin_thread(struct instr_thread *t, bool wait)
{
    const uint64_t begin = instr_platform_monotonic_ns();
    struct instr_switch_ring ring;
    uint32_t processor;
    if (!is_affordable(begin))
        return;
    (void)instr_count(&state.opened, 1);
    if (!instr_platform_switches_open(instr_settings.switches_forced, &ring, &processor)) {
        t->no_switches = 1;
        spend(begin);
        return;
    }
    struct instr_switches *s = NULL;
    if (wait ? instr_lock() : instr_try_lock()) {
        if (instr_registry.life == INSTR_LIFE_RUNNING && (s = get()) != NULL)
            s->taking = 1;
        instr_unlock();
    }
    if (s == NULL) {
        instr_platform_switches_close(&ring);
        return;
    }
    s->ring = ring;
    begin_stream(s, t, processor);
    untake(s);
    t->switches = s;
    (void)instr_switches_plan(t);
    spend(begin);
}

void instr_switches_begin_thread(struct instr_thread *t)
{
    t->no_switches = !state.begun || state.why != NULL;
    if (!t->no_switches)
        begin_thread(t, true);
}

struct instr_switches *instr_switches_leave(struct instr_thread *t)
{
    struct instr_switches *const s = t->switches;
    t->switches = NULL;
    t->no_switches = 1;
    return s;
}

void instr_switches_end_thread(struct instr_switches *s)
{
    const uint64_t begin = s != NULL ? instr_platform_monotonic_ns() : 0;
    if (s == NULL || !try_take(s)) /* the process ends */
        return;
    if (!s->stopped)
        take_all(s, true);
    end_stream(s);
    instr_platform_switches_close(&s->ring);
    if (s->stream->base + BUFFER - s->stream->cursor < (ptrdiff_t)BUFFER / 4)
        instr_packet_empty(s->stream);
    untake(s);
    if (instr_lock()) {
        s->free = state.free;
        state.free = s;
        instr_unlock();
    }
    spend(begin);
}

void instr_switches_slow(struct instr_thread *t)
{
    struct instr_guest guest;
    if (instr_inside || t != instr_self || t->sampling.taking || instr_process.active == INSTR_OFF)
        return;
    if (t->switches == NULL && !is_affordable(instr_platform_monotonic_ns()))
        return;
    instr_inside = true;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    if (t->switches == NULL) {
        begin_thread(t, false);
    } else if (try_take(t->switches)) {
        take_all(t->switches, true);
        untake(t->switches);
    }
    instr_inside = false;
    instr_platform_leave(&guest);
}

/* ---- the process ---- */

static bool is_own(const struct instr_switches *s)
{
    return instr_self != NULL && instr_self->switches == s;
}

static void stop(struct instr_switches *s, bool on)
{
    if (s->ring.map == NULL || !try_take(s))
        return;
    if (on) {
        instr_platform_switches_done(&s->ring, true);
        if (is_own(s)) /* of others it is not asked: what they lose without a word is not counted */
            s->counted = instr_platform_switches_count();
        s->records = is_own(s) ? 0 : UINT64_MAX / 2;
        instr_read_clocks(&s->pair);
        s->resumed = s->pair.ticks;
        if (is_own(s))
            resume(s, true);
    } else {
        take_all(s, is_own(s));
        put(s, s->pair.ticks, INSTR_SCHEDULED_UNKNOWN, 0);
    }
    s->stopped = !on;
    untake(s);
}

void instr_switches_switch(bool on)
{
    for (struct instr_switches *s = state.all; s != NULL; s = s->next)
        stop(s, on);
}

/* Threads that go on find their records taken for ever. Their rings stay mapped: one that was stopped in the middle of an event may still look. */
void instr_switches_finish(void)
{
    for (struct instr_switches *s = state.all; s != NULL; s = s->next) {
        const uint64_t give_up = instr_platform_monotonic_ns() + 10000000u;
        bool taken = try_take(s);
        while (!taken && instr_platform_monotonic_ns() < give_up) {
            instr_platform_yield();
            taken = try_take(s);
        }
        if (!taken)
            continue;
        if (s->ring.map != NULL) {
            if (!s->stopped)
                take_all(s, is_own(s));
            end_stream(s);
        }
        if (s->stream->slot_bytes[0] != 0)
            instr_packet_empty(s->stream);
        (void)instr_count(&instr_registry.lost_unattached, (uint32_t)(s->stream->discarded - s->stream->told));
    }
}

void instr_switches_forked(void)
{
    state.all = NULL;
    state.free = NULL;
    state.streams = 0;
    state.opened = 0;
    state.spent_us = 0;
    state.begin_ns = instr_platform_monotonic_ns();
}

const struct instr_thread *instr_switches_streams(void)
{
    return state.all != NULL ? state.all->stream : NULL;
}

#endif

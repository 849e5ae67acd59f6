/*
 * Context switches of the program's threads, as the system tells them: when a thread leaves its processor, why, and when it has one again.
 *
 * The system writes them into a ring of the thread's (platform/NAME_switches.c). The thread takes them out when it is in the runtime anyway and
 * the ring is half full: with an event that comes long after the one before, with each 8 KiB of events, and at its end. They go into a stream
 * of their own, in order of time, as other streams do: `scheduled` (docs/trace-format.md). The path of an event is what it was.
 */
#ifndef INSTR_SWITCHES_H
#define INSTR_SWITCHES_H

#include "core/process.h"
#include "platform/platform.h"

#if INSTR_HAS_SWITCHES

/* Of a thread, and after its end of another one. */
struct instr_switches {
    struct instr_switch_ring ring;
    struct instr_thread *stream;  /* packets, which no window shows */
    struct instr_switches *next;  /* of all */
    struct instr_switches *free;  /* of those whose thread ended */
    struct instr_clock_pair pair; /* when records were taken last */
    uint64_t rate;                /* ticks a nanosecond since, times 2^32 */
    uint64_t resumed;             /* ticks from which on nothing is known until the next record tells what was before; 0: it is known */
    uint64_t counted;             /* switches of the thread when its record began, as the system counts them */
    uint64_t records;             /* since then, those that were lost too */
    uint32_t foretold;            /* lost records that the system has still to tell */
    uint32_t taking;              /* somebody takes records: its thread, or who ends the process */
    uint32_t stopped;             /* by instr_stop */
};

/* Whether the ring is half full. */
static inline bool instr_switches_press(const struct instr_switches *s)
{
    return *s->ring.head - s->ring.tail >= s->ring.size / 2;
}

/* The process begins: asks the system. State: what the trace's metadata says of it. */
void instr_switches_begin(void);
const char *instr_switches_state(void);

/* The calling thread is attached. When it ends, it leaves what it has; behind its last event, when it has left its window, its record ends. */
void instr_switches_begin_thread(struct instr_thread *t);
struct instr_switches *instr_switches_leave(struct instr_thread *t);
void instr_switches_end_thread(struct instr_switches *s);

/* Recording is switched off or on, the process ends. The registry's lock is held. */
void instr_switches_switch(bool on);
void instr_switches_finish(void);

/* This is a forked child. */
void instr_switches_forked(void);

/* The streams of all, for the metadata. */
const struct instr_thread *instr_switches_streams(void);

/* There may be something to do. Called by the thread, with its guard held. */
void instr_switches_slow(struct instr_thread *t);

static inline void instr_switches_look(struct instr_thread *t)
{
    if (t->switches == NULL ? !t->no_switches : instr_switches_press(t->switches))
        instr_switches_slow(t);
}

/* The next look is after some more events, at the latest. False: there is none. */
static inline bool instr_switches_plan(struct instr_thread *t)
{
    const ptrdiff_t step = 8192;
    if (t->switches == NULL || t->room == INSTR_LOOK)
        return false;
    t->room = t->slot_end - t->cursor > step ? t->cursor + step : t->slot_end;
    return true;
}

/* The same, unless a look is due now. */
static inline bool instr_switches_step(struct instr_thread *t)
{
    return t->switches != NULL && !instr_switches_press(t->switches) && instr_switches_plan(t);
}

#else
static inline void instr_switches_look(struct instr_thread *t)
{
    (void)t;
}

static inline bool instr_switches_plan(struct instr_thread *t)
{
    (void)t;
    return false;
}

static inline bool instr_switches_step(struct instr_thread *t)
{
    (void)t;
    return false;
}

static inline void instr_switches_begin(void)
{
}

static inline void instr_switches_begin_thread(struct instr_thread *t)
{
    (void)t;
}

static inline struct instr_switches *instr_switches_leave(struct instr_thread *t)
{
    (void)t;
    return NULL;
}

static inline void instr_switches_end_thread(struct instr_switches *s)
{
    (void)s;
}

static inline void instr_switches_switch(bool on)
{
    (void)on;
}

static inline void instr_switches_finish(void)
{
}

static inline void instr_switches_forked(void)
{
}
#endif

#endif

/*
 * Writing one event: reserve, write, commit. See core/thread.h for the guard.
 *
 *     struct instr_slot s;
 *     uint32_t *p = instr_open(t, &s, INSTR_EV_CHUNK_BEGIN, 4);
 *     if (p) { put…; instr_close(&s); }
 */
#ifndef INSTR_RECORD_H
#define INSTR_RECORD_H

#include <string.h>

#include "arch/arch.h"
#include "core/thread.h"
#include "platform/platform.h"
#include "sensors/sensors.h"

#if INSTR_ARCH_SMALL
#include "core/cold.h"
#endif

#define INSTR_BARRIER() __asm__ volatile("" ::: "memory")
#define INSTR_LIKELY(x) __builtin_expect(!!(x), 1)

/* The clock of nearly all systems of this architecture: one comparison in the hot path. */
#define INSTR_ON_FAST (INSTR_ARCH_HAS_TICKS ? INSTR_ON_TICKS : INSTR_ON_SYSTEM)

struct instr_slot {
    struct instr_thread *thread;
    char *limit;
    char *end;
};

/* Out of line: makes room, or counts the event as discarded. Returns where the event goes, or NULL. */
char *instr_make_room(struct instr_thread *t, char *limit, size_t bytes);

/* The header of an event at `ticks`, or at the time of the one before if that is later. Returns what follows. */
uint32_t *instr_put_header(struct instr_thread *t, unsigned id, uint64_t ticks);

/*
 * Out of line: an event that is too far behind the last one for a short header, or seems to be before it. Writes the header, and makes room for
 * it; returns what follows, or NULL. Where code size counts, there always is room for a long header.
 */
#if INSTR_ARCH_SMALL
#define INSTR_ROOM_WORDS INSTR_EXTENDED_WORDS
static inline uint32_t *instr_open_apart(struct instr_thread *t, unsigned id, size_t words, uint64_t now)
{
    (void)words;
    return instr_put_header(t, id, now);
}
#else
#define INSTR_ROOM_WORDS INSTR_HEADER_WORDS
uint32_t *instr_open_apart(struct instr_thread *t, unsigned id, size_t words, uint64_t now);
#endif

/* Out of line: the system's clock, or the stack is looked at too. */
uint64_t instr_slow_ticks(uint32_t active);

static inline uint64_t instr_ticks(uint32_t active)
{
#if INSTR_ARCH_HAS_TICKS
    if (INSTR_LIKELY(active == INSTR_ON_TICKS))
        return instr_arch_ticks();
#endif
    return instr_slow_ticks(active);
}

static inline uint32_t *instr_put32(uint32_t *p, uint32_t value)
{
    *p = value;
    return p + 1;
}

static inline uint32_t *instr_put64(uint32_t *p, uint64_t value)
{
#if INSTR_ARCH_UNALIGNED64
    memcpy(p, &value, 8);
#elif INSTR_BIG_ENDIAN
    p[0] = (uint32_t)(value >> 32);
    p[1] = (uint32_t)value;
#else
    p[0] = (uint32_t)value;
    p[1] = (uint32_t)(value >> 32);
#endif
    return p + 2;
}

static inline uint32_t *instr_put_addr(uint32_t *p, uintptr_t value)
{
#if UINTPTR_MAX > 0xffffffffu
    return instr_put64(p, value);
#else
    return instr_put32(p, value);
#endif
}

/* An entry of a list of dependences: in one word of the target, where that has 64 bits; of these no address needs all. */
static inline uint32_t *instr_put_depend(uint32_t *p, uintptr_t address, uint32_t kind)
{
#if UINTPTR_MAX > 0xffffffffu
    return instr_put64(p, INSTR_BIG_ENDIAN ? (uint64_t)address << 8 | kind : (uint64_t)kind << 56 | ((uint64_t)address & (UINT64_MAX >> 8)));
#else
    return instr_put32(instr_put32(p, address), kind);
#endif
}

#define INSTR_DEPEND_WORDS 2u

/* The header of an event that is less than INSTR_TIME_RANGE behind the last one. */
static inline uint32_t instr_header(unsigned id, uint64_t ticks)
{
#if INSTR_BIG_ENDIAN
    return (uint32_t)id << INSTR_TIME_BITS | ((uint32_t)ticks & (uint32_t)(INSTR_TIME_RANGE - 1));
#else
    return (uint32_t)ticks << INSTR_ID_BITS | (uint32_t)id;
#endif
}

/* The header of an event now, where ticks are the clock, and the last event was near; returns what follows. NULL: it was not. */
static inline __attribute__((always_inline)) uint32_t *instr_put_near(struct instr_thread *t, uint32_t *p, unsigned id)
{
#if INSTR_ARCH_HAS_HALVES
    /* The low half first: when it begins anew before the high half is read, this is another one than the last event's. */
    const uint32_t low = instr_arch_ticks_low();
    const uint32_t high = instr_arch_ticks_high();
    if (!INSTR_LIKELY(t->last_halves[!INSTR_BIG_ENDIAN] == high && low - t->last_halves[INSTR_BIG_ENDIAN] < INSTR_TIME_RANGE))
        return NULL;
    t->last_halves[INSTR_BIG_ENDIAN] = low;
    return instr_put32(p, instr_header(id, low));
#elif INSTR_ARCH_HAS_TICKS
    const uint64_t now = instr_arch_ticks();
    if (!INSTR_LIKELY(now - t->last_event < INSTR_TIME_RANGE))
        return NULL;
    t->last_event = now;
    return instr_put32(p, instr_header(id, now));
#else
    (void)t;
    (void)p;
    (void)id;
    return NULL;
#endif
}

/*
 * Opens an event of `words` 32-bit words of payload, with its header written, and returns where the payload goes; NULL when
 * tracing is off or the event was discarded (and counted).
 */
static inline __attribute__((always_inline)) uint32_t *instr_open_here(struct instr_thread *t, struct instr_slot *s, unsigned id,
                                                                       size_t words)
{
    const size_t bytes = 4 * (INSTR_ROOM_WORDS + words);
    char *limit = t->limit;
#if INSTR_ARCH_POSITIVE
    if (INSTR_LIKELY(!instr_is_busy(limit))) {
        t->limit = INSTR_BUSY;
        INSTR_BARRIER(); /* busy is visible to this thread's signal handlers before anything else happens */
        limit = INSTR_ROOM(t); /* a handler between the lines above may have moved on to another slot */
    }
#else
    t->limit = NULL;
    INSTR_BARRIER();
    if (INSTR_LIKELY(limit != NULL))
        limit = INSTR_ROOM(t);
#endif
    const uint32_t active = instr_process.active;
    char *p = t->cursor;
    if (!INSTR_LIKELY(active == INSTR_ON_FAST) && active == INSTR_OFF) {
        t->limit = !INSTR_HAS_LATE || instr_is_busy(limit) ? limit : t->slot_end;
        return NULL;
    }
    if (!INSTR_LIKELY((instr_place)p + (instr_place)bytes <= (instr_place)limit)) {
        p = instr_make_room(t, limit, bytes);
        if (p == NULL)
            return NULL;
        limit = t->slot_end;
    }
    const uint64_t now = instr_ticks(active);
    uint32_t *payload;
#if !INSTR_ARCH_SMALL
    char *end = p + bytes;
#endif
    if (INSTR_LIKELY(now - t->last_event < INSTR_TIME_RANGE)) {
        t->last_event = now;
        payload = instr_put32((uint32_t *)(void *)p, instr_header(id, now));
    } else {
        payload = instr_open_apart(t, id, words, now);
        if (payload == NULL)
            return NULL;
        limit = t->slot_end;
#if !INSTR_ARCH_SMALL
        end = (char *)(payload + words);
#endif
    }
    s->thread = t;
    s->limit = limit;
#if INSTR_ARCH_SMALL
    s->end = (char *)(payload + words);
#else
    s->end = end; /* from before the clock is read: it is at hand */
#endif
    return payload;
}

#if INSTR_ARCH_SMALL
__attribute__((noinline)) uint32_t *instr_open(struct instr_thread *t, struct instr_slot *s, unsigned id, size_t words);
#else
static inline __attribute__((always_inline)) uint32_t *instr_open(struct instr_thread *t, struct instr_slot *s, unsigned id,
                                                                  size_t words)
{
    return instr_open_here(t, s, id, words);
}
#endif

/*
 * The same, without a call: NULL where it would take one, and nothing has happened then. There is room for `most` words, of which the event
 * takes `words`. `may_move`: the thread may run on another processor than at its last event, which is to be told where it matters.
 */
static inline __attribute__((always_inline)) uint32_t *instr_open_fast(struct instr_thread *t, struct instr_slot *s, unsigned id, size_t words,
                                                                       size_t most, bool may_move)
{
    if (instr_is_busy(t->limit))
        return NULL;
    t->limit = INSTR_BUSY;
    INSTR_BARRIER();
    char *const limit = INSTR_ROOM(t);
    char *const p = t->cursor;
    s->thread = t;
    s->limit = limit;
    s->end = p + 4 * (INSTR_HEADER_WORDS + words);
    const uint32_t *const active = (const uint32_t *)(uintptr_t)&instr_process.active; /* volatile, it would be an instruction more: the barrier above is enough */
    if (INSTR_LIKELY(*active == INSTR_ON_TICKS && (instr_place)p + (instr_place)(4 * (INSTR_HEADER_WORDS + most)) <= (instr_place)limit) &&
        INSTR_LIKELY(!may_move || !instr_has_moved(t))) {
        uint32_t *const payload = instr_put_near(t, (uint32_t *)(void *)p, id);
        if (INSTR_LIKELY(payload != NULL))
            return payload;
    }
    t->limit = t->slot_end;
    return NULL;
}

/* instr_open_fast() of the calling thread. */
static inline __attribute__((always_inline)) uint32_t *instr_open_at_once(struct instr_slot *s, unsigned id, size_t words)
{
    struct instr_thread *const t = instr_self;
    return INSTR_ARCH_HAS_TICKS && INSTR_LIKELY(t != NULL) ? instr_open_fast(t, s, id, words, words, true) : NULL;
}

/* Commits the event: one store, of the host's cursor, makes it part of the trace. */
static inline __attribute__((always_inline)) void instr_close(const struct instr_slot *s)
{
    INSTR_BARRIER(); /* the payload is stored before the cursor passes it */
    s->thread->cursor = s->end;
    INSTR_TELL(s->thread, cursor);
    s->thread->events++;
    INSTR_BARRIER();
    s->thread->limit = s->limit;
}

/* A read point of sensors and counters (sensors/sensors.h); there are none where these are not linked (sensors/optional.h). */
#if !INSTR_PLATFORM_SMALL
#pragma weak instr_at_point
#endif
static inline __attribute__((always_inline)) void instr_point(struct instr_thread *t, unsigned point)
{
    if (__builtin_expect((instr_process.points & point) != 0, 0))
        instr_at_point(t, point);
}

/* Begins another event behind the one that is open, which was opened with room for both, at the same time: one look at the clock. */
static inline uint32_t *instr_open_second(struct instr_thread *t, uint32_t *p, unsigned id)
{
    t->events++;
    return instr_put32(p, instr_header(id, t->last_event));
}

/* Events with up to three words of payload. */
#include "core/small_events.h"

/* Makes sure that the current packet holds the text behind `address`, which must stay valid and unchanged. */
void instr_string(struct instr_thread *t, const char *address);

static inline const void **instr_string_place(struct instr_thread *t, const char *address)
{
    return &t->strings[((uintptr_t)address >> 2 ^ (uintptr_t)address >> 9) & (INSTR_STRING_CACHE - 1)];
}

static inline bool instr_is_defined(struct instr_thread *t, const char *address)
{
    return *instr_string_place(t, address) == address;
}

/* instr_open() for an event with the name `name`, whose text the packet then holds, unless it found no room. */
static inline __attribute__((always_inline)) uint32_t *instr_open_named(struct instr_thread *t, struct instr_slot *s, unsigned id,
                                                                        size_t words, const char *name)
{
    if (!INSTR_LIKELY(instr_is_defined(t, name)))
        instr_string(t, name);
    const bool defined = instr_is_defined(t, name);
    uint32_t *p = instr_open(t, s, id, words);
    if (p != NULL && defined && !INSTR_LIKELY(instr_is_defined(t, name))) {
        instr_forget_time(t);
        t->limit = t->slot_end; /* a packet began in between: once more, in the new one */
        instr_string(t, name);
        p = instr_open(t, s, id, words);
    }
    return p;
}

#endif

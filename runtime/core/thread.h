/*
 * A thread's window and its recording state, and the process-wide switch.
 *
 *   private memory of one thread
 *   +----------------------------+ <- struct instr_thread: all that the program itself relies on
 *   | magic … base cursor | …    |
 *   +----------------------------+ <- struct instr_window (4096 bytes), INSTR_PRIVATE_BYTES further on; from here on
 *   | magic … base cursor | 0    |    the window: a file mapped shared, or memory
 *   +----------------------------+ <- base
 *   | packet of an ended thread  |
 *   +----------------------------+ <- packet
 *   | packet header (104 bytes)  |
 *   | event event event …        | <- cursor: everything before it is complete
 *   | (free)                     |
 *   +----------------------------+ <- slot end
 *
 * A thread that ends leaves its window, with its complete packet, and its stream file. The next thread that begins takes both over
 * (docs/decisions/0019-streams-are-taken-over.md).
 *
 * Whoever can write the window's file can write all of the window at any time. So the runtime only writes there and never reads: what
 * others do to a window changes the trace and nothing else. The host's copy of the cursor lies at a fixed distance from the thread's own:
 * committing an event is one more store, and that store is already in the file when the process is killed.
 *
 * Where nothing is shared (small systems), the two are one: INSTR_PRIVATE_BYTES is 0, and struct instr_thread is the window's first page.
 *
 * Who may touch it: only the owning thread, its signal handlers, and, after instr_quiesce(), the thread that closes the trace.
 * `limit` is the guard: no place in a window lies below it while an event is being written, so that a signal handler (or a call that finds
 * its way back into the runtime) takes the slow path, where its event is kept for later (core/late.h) or counted as discarded. Where
 * it can, it says who writes: a handler that never returns (siglongjmp) leaves the guard taken, and the next event finds out.
 */
#ifndef INSTR_THREAD_H
#define INSTR_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "core/config.h"
#include "core/format.h"
#include "core/late.h"
#include "core/stack.h"
#include "sampling/sampling.h"

#define INSTR_STRING_CACHE 64u /* power of two */
#define INSTR_MAX_SLOTS 16u
#define INSTR_SPLIT_BYTES 2048u

/*
 * Room for struct instr_thread in front of its window. 128 bytes less than a page: then a thread's fields have other places in their page
 * than the host's copies, and a load of one does not wait for the store of the other, whose address looks the same to the processor.
 */
#if INSTR_PLATFORM_SMALL
#define INSTR_PRIVATE_BYTES 0u
#else
#define INSTR_PRIVATE_BYTES (INSTR_WINDOW_HEADER_BYTES - 128u)
#endif

/* Whether a thread may take over the stream of one that ended. It takes 1.6 KB of code, which small systems and processors need more. */
#if INSTR_PLATFORM_SMALL || INSTR_ARCH_SMALL
#define INSTR_HAS_TAKEOVER 0
#else
#define INSTR_HAS_TAKEOVER 1
#endif

/* Whether functions of languages are recorded (core/functions.c). */
#define INSTR_HAS_FUNCTIONS INSTR_KEEPS_RUNS

/* Whether it is known which calls are open, and of how many at most: where size counts more, each end is the innermost one's. */
#define INSTR_KNOWS_CALLS INSTR_KEEPS_RUNS
#define INSTR_KNOWN_CALLS 8u

/* What the host reads (docs/trace-format.md, "Window file"), and the same fields of a thread. */
#define INSTR_WINDOW_FIELDS \
    uint32_t magic; \
    uint32_t version; \
    uint32_t header_bytes; \
    uint32_t word_bytes; \
    uint32_t state; \
    uint32_t stream; \
    uint64_t size; \
    uint64_t discarded; \
    uint64_t next_seq; \
    uint32_t slots; \
    uint32_t slot; \
    char *base; \
    char *cursor; \
    uint32_t nested;  /* events of signal handlers that came while another one was being written */ \
    uint32_t settled; /* those of them that are in the window since, or in `discarded` */

struct instr_window {
    INSTR_WINDOW_FIELDS
};

struct instr_thread {
    INSTR_WINDOW_FIELDS

    /* Of the runtime alone. */
    char *limit;      /* slot_end, or INSTR_BUSY. From here to `next` all is of one thread alone */
    char *slot_end;   /* end of the current slot */
#if INSTR_HAS_LATE
    char *room;       /* slot_end; INSTR_LOOK: the next event takes the slow path, as handlers' events wait */
#endif
    union {
        uint64_t last_event; /* time of the last event, or of the packet's begin; INSTR_TIME_LATEST */
        uint32_t last_halves[2];
    };
    uint32_t lost_nested; /* events of handlers that are lost, and those of them that are in `discarded` */
    uint32_t lost_counted;
    uint32_t events;  /* events of the packet being filled, without those that it begins with */
    uint32_t index;   /* of the thread */
    uint32_t task_thread; /* explicit task running here */
    uint32_t task_seq;
    uint32_t region_thread; /* region whose implicit task runs here */
    uint32_t region_seq;
    uint32_t next_task;
    uint32_t next_region;
    uint32_t os_tid;
    char *packet;        /* the packet being filled */
    const void *strings[INSTR_STRING_CACHE]; /* addresses whose text this packet already holds */
    uint64_t split[INSTR_SPLIT_BYTES / 8]; /* regions open by the split calls (probes/parallel_split.c) */
    uint32_t split_depth;
#if INSTR_KNOWS_CALLS
    uint32_t call_depth;  /* open calls of described functions (core/call.c) */
    uint32_t calls_known; /* the innermost of them whose places are in `calls`, at their depths modulo INSTR_KNOWN_CALLS */
    uintptr_t calls[INSTR_KNOWN_CALLS];
    uintptr_t first_call; /* place of the outermost one */
#endif
    uint32_t turning;     /* its packets are being handed over */
    uint32_t slow;        /* inside find_room (core/packet.c): what a handler records there cannot be kept */
    void *counters;       /* of the platform: what it opened for this thread, or NULL */
    uint32_t processor;   /* where the last event was recorded; INSTR_NONE: not told in this packet yet */
    uint32_t ownerless;   /* no thread's: nothing is handed to the sink before the end */
    uint64_t appended;    /* all events of the packets that the sink took */
    uint32_t own_events;  /* those that the packet being filled begins with (ring: the first packet) */
    uint64_t attached_ns; /* instr_platform_monotonic_ns() then; 0: not asked (core/thread_time.c) */
    uint32_t ending;      /* the destructors of its keys run (platform/linux/system.c) */
#if INSTR_HAS_FUNCTIONS
    uint32_t packet_number; /* of the packet being filled, among all of the process and those it was forked from; not 0 */
#endif
    uint32_t kept;        /* the sink refused its last packet: the window holds it and is not used again */
    struct instr_stack stack; /* core/stack.h */
    struct instr_sampling sampling; /* sampling/sampling.h */
    struct instr_late late; /* core/late.h */
#if INSTR_HAS_SWITCHES
    struct instr_switches *switches; /* core/switches.h; NULL: they are not recorded … */
    uint32_t no_switches;            /* … and are not going to be */
#endif

    /* Of the window and its stream: they stay when another thread takes the window over. */
    struct instr_thread *next; /* in the registry; never removed */
    struct instr_thread *next_left; /* among the windows that ended threads left */
    uint32_t mapped;      /* the block is a file */
    uint32_t file_number; /* NNNN of its window file */
    uint32_t overwrote;   /* the ring has lost packets */
    uint32_t slot_packets; /* complete packets in the window, where it is one slot */
    uint32_t behind;      /* what it holds came late: packets have the times of their events, and none of the runtime's own events */
    uint64_t last_ticks;  /* end of the previous packet */
    uint64_t counted[INSTR_MAX_SLOTS]; /* `discarded` in the last complete packet of each slot */
    uint64_t told;                     /* and in the last one that was handed over */
    uint32_t slot_events[INSTR_MAX_SLOTS]; /* events of the complete packets in each slot */
    uint32_t slot_bytes[INSTR_MAX_SLOTS];  /* and their bytes */
};

/* `state`. The host sees WINDOW_FREE, and everything else as WINDOW_OWNED. */
enum {
    INSTR_WINDOW_FREE,
    INSTR_WINDOW_OWNED, /* a thread records into it */
    INSTR_WINDOW_LEFT,  /* its thread ended; another one's packet may begin behind what it holds */
};

_Static_assert(sizeof(struct instr_thread) <= (INSTR_PRIVATE_BYTES != 0 ? INSTR_PRIVATE_BYTES : INSTR_WINDOW_HEADER_BYTES),
               "the header page is too small");
_Static_assert(INSTR_CFG_RING_SLOTS <= INSTR_MAX_SLOTS, "INSTR_CFG_RING_SLOTS is too large");
_Static_assert(offsetof(struct instr_window, size) == 24, "window layout");
_Static_assert(offsetof(struct instr_window, discarded) == 32, "window layout");
_Static_assert(offsetof(struct instr_window, next_seq) == 40, "window layout");
_Static_assert(offsetof(struct instr_window, slots) == 48, "window layout");
_Static_assert(offsetof(struct instr_window, base) == 56, "window layout");
_Static_assert(offsetof(struct instr_window, cursor) == 56 + sizeof(void *), "window layout");
_Static_assert(offsetof(struct instr_window, nested) == 56 + 2 * sizeof(void *), "window layout");
_Static_assert(offsetof(struct instr_window, settled) == 60 + 2 * sizeof(void *), "window layout");
_Static_assert(offsetof(struct instr_thread, size) == 24 && offsetof(struct instr_thread, discarded) == 32 &&
                   offsetof(struct instr_thread, next_seq) == 40 && offsetof(struct instr_thread, slots) == 48 &&
                   offsetof(struct instr_thread, base) == 56 && offsetof(struct instr_thread, cursor) == 56 + sizeof(void *) &&
                   offsetof(struct instr_thread, nested) == 56 + 2 * sizeof(void *),
               "a thread begins as its window does");

/* The window of a thread. */
#define INSTR_WINDOW_OF(t) ((struct instr_window *)(void *)((char *)(t) + INSTR_PRIVATE_BYTES))

/* Tells the host the value of a thread's field. */
#if INSTR_PLATFORM_SMALL
#define INSTR_TELL(t, field) ((void)(t))
#else
#define INSTR_TELL(t, field) ((void)(INSTR_WINDOW_OF(t)->field = (t)->field))
#endif

/*
 * What `limit` is while an event is being written: below all places in windows. Where a program's addresses are positive numbers, it is the
 * writer's stack pointer, inverted. NULL: by whom is not known.
 */
#if INSTR_ARCH_POSITIVE
#define INSTR_BUSY ((char *)~instr_arch_stack_pointer())
typedef intptr_t instr_place;
#else
#define INSTR_BUSY ((char *)NULL)
typedef uintptr_t instr_place;
#endif

static inline bool instr_is_busy(const char *limit)
{
    return INSTR_ARCH_POSITIVE ? (intptr_t)limit <= 0 : limit == NULL;
}

/* Adds to a counter that handlers, or other threads, may add to at any moment: in one step where the processor can. The new value. */
static inline uint32_t instr_count(volatile uint32_t *counter, uint32_t more)
{
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_4)
    return __atomic_add_fetch(counter, more, __ATOMIC_RELAXED);
#else
    return *counter += more;
#endif
}

/* The end of an event's room, as it is found before the event. */
#if !INSTR_HAS_LATE
#define INSTR_ROOM(t) ((t)->slot_end)
#else
#define INSTR_LOOK ((char *)1)
#define INSTR_ROOM(t) ((t)->room)
#endif

/* Writes what handlers left. The caller holds the guard, and no signal is delivered. */
static inline void instr_late_write_all(struct instr_thread *t)
{
#if INSTR_HAS_LATE
    if (t->room == INSTR_LOOK)
        instr_late_write(t);
#else
    (void)t;
#endif
}

/*
 * An event that was begun and is not written has left its time in `last_event`: what stands in the packet before is older, nobody knows how
 * much, so the next header must be an extended one. This bit puts the time so far from all others that it is.
 */
#define INSTR_TIME_LATEST (UINT64_C(1) << 63)

static inline void instr_forget_time(struct instr_thread *t)
{
    t->last_event |= INSTR_TIME_LATEST;
}

/* No event in the packet is later. */
static inline uint64_t instr_last_time(const struct instr_thread *t)
{
    return t->last_event & (INSTR_TIME_LATEST - 1);
}

/* Events of a thread are lost. */
static inline void instr_lose(struct instr_thread *t, uint64_t events)
{
    t->discarded += events;
    INSTR_TELL(t, discarded);
}

/* Clock in use; 0 = nothing is recorded. One word answers "on?" and "which clock?". Further bits ask every event to look at the stack
 * pointer (core/stack.c), or for ticks that take a call: then the comparison with INSTR_ON_TICKS fails, and the clock is read out of line. */
enum { INSTR_OFF = 0, INSTR_ON_TICKS = 1, INSTR_ON_SYSTEM = 2, INSTR_ON_CLOCKS = 3, INSTR_ON_STACK = 4, INSTR_ON_CALL = 8 };

/*
 * Process-wide state. A page of its own: the kernel is asked to clear it in forked children (MADV_WIPEONFORK), so that even a
 * child made by a raw system call never writes into its parent's windows.
 */
struct instr_process {
    volatile uint32_t active;
    volatile uint32_t points; /* where sensors or counters are read: bits of enum instr_sensor_point */
    char page[4096 - 2 * sizeof(uint32_t)];
};

extern struct instr_process instr_process;
extern _Thread_local struct instr_thread *instr_self INSTR_TLS;

/* Attaches the calling thread: gives it a window and writes thread_begin. NULL when nothing is recorded. */
struct instr_thread *instr_attach(void);

/* The same for a thread of the runtime's own: it is not one of the program's. */
struct instr_thread *instr_attach_own(void);

/* The calling thread's state, or NULL when nothing is recorded (then a probe only calls the real function). */
#if INSTR_ARCH_HAS_PROCESSOR
/* Threads migrate, and what a record says depends on where: an event tells the processor whenever it is another one. */
void instr_moved(struct instr_thread *t, uint32_t processor);
struct instr_thread *instr_thread(void);
/* The same, wherever the thread runs. */
struct instr_thread *instr_thread_now(void);
/* Whether it runs on another processor than at its last event, or that takes a call to find out; while `active` is INSTR_ON_TICKS. */
static inline bool instr_has_moved(const struct instr_thread *t)
{
    return t->processor != instr_arch_processor_by_ticks();
}
#else
static inline bool instr_has_moved(const struct instr_thread *t)
{
    (void)t;
    return false;
}
static inline struct instr_thread *instr_thread(void)
{
    struct instr_thread *t = instr_self;
    if (__builtin_expect(t != NULL && instr_process.active != INSTR_OFF, 1))
        return t;
    return instr_attach();
}
#endif

#endif

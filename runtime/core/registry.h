/*
 * What the slow paths share: the windows of all threads, what the process is in, and the lock in front of both. Nobody else looks at it.
 */
#ifndef INSTR_REGISTRY_H
#define INSTR_REGISTRY_H

#include "core/process.h"

enum instr_life { INSTR_LIFE_BEFORE, INSTR_LIFE_RUNNING, INSTR_LIFE_CHILD, INSTR_LIFE_CLOSED };

struct instr_registry {
    uint32_t lock; /* registry, sink and metadata; never taken in the hot path; small systems have one of their own */
#if !INSTR_ARCH_SMALL
    volatile uint32_t turns; /* how often it was had */
#endif
    enum instr_life life;
    uint32_t clock; /* INSTR_ON_TICKS or INSTR_ON_SYSTEM */
    uint32_t threads; /* next thread index */
    uint32_t windows; /* next window file number */
    uint32_t pid;     /* whose trace this is: a child of vfork or of a raw system call must not close it */
    struct instr_thread *all;
    struct instr_thread *left; /* windows that a thread may have: the one that was left last comes first */
    volatile uint32_t making; /* windows whose files are being made, without the lock */
    volatile uint32_t lost_unattached;
    uint64_t events; /* of packets that the sink took from threads that ended */
    bool has_executable;
    bool stopped; /* by instr_stop */
    bool dying;   /* whoever is in the middle of an event will not come back */
    uint32_t points; /* instr_process.points, which is cleared in children */
#if INSTR_KEEPS_RUNS
    const char *begun; /* the initial thread's cursor when the program's own code begins; NULL: something was recorded, or may be by a child */
    bool empty;        /* nothing was recorded up to the end */
    bool paused;       /* the trace begins with instr_start() */
#endif
    uint64_t modules;
    uint64_t frequency;
    uint32_t processors; /* of struct instr_metadata */
    uint32_t processor_quota;
    struct instr_clock_pair start;
    char executable[INSTR_CFG_PATH_BYTES];
};

extern struct instr_registry instr_registry;

/* Set while this thread is inside the runtime's slow paths, so that whatever they call cannot attach it again. */
extern _Thread_local bool instr_inside INSTR_TLS;

/* Set on a thread of the runtime's own. */
extern _Thread_local bool instr_own_thread INSTR_TLS;

/* Nobody waits longer for who has the lock, ns. However many are before the caller, they are waited for. */
#define INSTR_LOCK_NS 1000000000u

/*
 * False: it cannot be had. Who has it may be gone (a handler on a stack of its own left it by a jump when this one overflowed), or wait for what
 * the caller has: the lock of the dynamic linker, whose list is read under ours.
 */
bool instr_lock(void);
#if !INSTR_PLATFORM_SMALL
bool instr_try_lock(void); /* without waiting */
#endif
void instr_unlock(void);

/* core/threads.c, under the lock. Whether a window's stream goes on with the next thread. */
bool instr_streams_are_shared(void);

/* Ends the thread, which may be another one, and leaves its window. */
void instr_thread_end(struct instr_thread *t);

/* All that the window holds was handed over, or the sink refused it. What is kept stays as it is, on disk or in the image: the host finds it there. */
void instr_window_settle(struct instr_thread *t, bool handed_over);

/* core/process.c. A forked child records its first event: its trace begins. The lock is held. */
bool instr_begin_child(void);

#endif

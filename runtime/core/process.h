/* The traced process: its clock, its threads, its beginning and end. */
#ifndef INSTR_PROCESS_H
#define INSTR_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"

/* One moment on all clocks. */
struct instr_clock_pair {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
};

/* INSTR_ON_TICKS or INSTR_ON_SYSTEM: the clock of this trace, also while recording is off. */
uint32_t instr_process_clock(void);

/* Reads all clocks, the tightest of a few tries. */
void instr_read_clocks(struct instr_clock_pair *pair);

/* Writes a clock_sync event into `t`, whose guard the caller holds. */
void instr_append_clock_sync(struct instr_thread *t);

/* Rewrites the metadata if objects were loaded since. */
#if INSTR_PLATFORM_SMALL
static inline void instr_modules_changed(void)
{
}
#else
void instr_modules_changed(void);
#endif

/* Called by the platform: the calling thread ends; this process is a forked child; the process ends. */
void instr_thread_ended(struct instr_thread *t);
void instr_forked(void);
void instr_finish(void);

#if INSTR_KEEPS_RUNS
/* This process has made a child by fork, which may record into a folder inside this one's. */
void instr_has_forked(void);
#endif

/* Whether the calling thread is inside the runtime's slow paths: what is called from there is none of the program's. */
bool instr_is_inside(void);

/* Where there is a probe of the heap (probes/memory.c): tells the state of the heap. */
void instr_memory_heap(void) __attribute__((weak));

/* Where there are probes of threads (probes/pthread_settings.c): tells the name of a thread that ends. Not where code size counts. */
void instr_pthread_end(struct instr_thread *t) __attribute__((weak));

/* Where there is libomp's tool (ompt/tool.c): a thread begins to end, of which libomp has not heard yet. */
void instr_ompt_initial_ends(void) __attribute__((weak));

/* There in programs that are linked with probes of the heap; the probes themselves may be there for libraries. */
extern const char instr_memory_wrapped __attribute__((weak));

/* The process begins (once) and ends; what is known of the heap is told, where calls of it are recorded. For libraries (library/join.c). */
#if !INSTR_PLATFORM_SMALL
void instr_process_begin(void);
void instr_process_end(void);
void instr_process_heap(void);
#endif

/* Does something for each thread that is recorded, behind the lock of the registry. */
void instr_process_each(void (*action)(struct instr_thread *t));

/* Turns recording off or on again (instr_stop, instr_start). False when nothing changed. */
bool instr_switch(bool on);

#if INSTR_KEEPS_RUNS
/*
 * Begins a trace that INSTR_PAUSED held back, with the settings in `config` (NULL: none); takes those that may change when it has begun. False: a
 * setting is refused, and nothing has changed.
 */
bool instr_process_start(const char *config);
#endif

/*
 * Makes a stream that no thread owns (INSTR_THREAD_PROCESSOR: what the system tells about a processor; INSTR_THREAD_OWN: what a timer of
 * the runtime's reads): one writer at a time, who may have interrupts off. NULL when there is no memory. Its packets are handed over at the
 * end only.
 */
struct instr_thread *instr_attach_stream(uint32_t os_tid, uint32_t flags);

/* The system is dying: whoever held the runtime's lock, or is in the middle of an event, will not come back. */
void instr_break_lock(void);

/* An event is lost that no window can count. */
void instr_lose_unattached(void);

/* Events lost on threads that could not be given a window. */
uint64_t instr_lost_unattached(void);

#endif

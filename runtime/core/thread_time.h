/* The processor time of each thread, as the system counts it: thread_time (docs/trace-format.md). */
#ifndef INSTR_THREAD_TIME_H
#define INSTR_THREAD_TIME_H

#include "core/thread.h"

#if INSTR_HAS_THREAD_TIME
/* The calling thread is attached: records what it has had so far, if that is more than nothing to speak of. */
void instr_thread_time_begin(struct instr_thread *t);

/* The calling thread is about to end: asks and records, without the process's lock. */
void instr_thread_time_last(struct instr_thread *t);

/* The thread ends, or the trace: the same where it was not done. The caller has the guard of `t`, which may be another thread's. */
void instr_thread_time_end(struct instr_thread *t);
#else
static inline void instr_thread_time_begin(struct instr_thread *t)
{
    (void)t;
}

static inline void instr_thread_time_last(struct instr_thread *t)
{
    (void)t;
}

static inline void instr_thread_time_end(struct instr_thread *t)
{
    (void)t;
}
#endif

#endif

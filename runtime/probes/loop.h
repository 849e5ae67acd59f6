/* What the loop probes share. loop_begin at the entry of a start call, chunk_begin when a chunk was handed out, dispatch at the entry
 * of the call that asks for the next one, work_end at the entry of the end call. */
#ifndef INSTR_LOOP_H
#define INSTR_LOOP_H

#include "probes/team.h"

/* chunk_begin: iterations [begin, end) were handed to this thread. */
void instr_chunk(struct instr_thread *t, uint64_t begin, uint64_t end);

/* GOMP_loop_start's own schedule argument: 0 runtime, 1 static, 2 dynamic, 3 guided, 4 auto, bit 31 monotonic. */
static inline unsigned instr_generic_schedule(unsigned schedule, long sched)
{
    const unsigned bits = (unsigned)sched;
    return schedule | (bits & 7u) | (bits >> 31 ? (unsigned)INSTR_LOOP_MONOTONIC : 0u);
}

/* A loop starts. The calling thread's state, or NULL. */
static inline struct instr_thread *instr_loop_starts(unsigned schedule, int64_t start, int64_t end, int64_t incr, int64_t chunk)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_loop_begin(t, schedule, start, end, incr, chunk);
    return t;
}

/* The thread asks for its next chunk. */
static inline struct instr_thread *instr_loop_asks(void)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event0(t, INSTR_EV_DISPATCH);
    return t;
}

/* What libgomp answers to both: whether there is a chunk, and which. */
static inline bool instr_loop_gets(struct instr_thread *t, bool work, const long *istart, const long *iend)
{
    if (work && t != NULL && istart != NULL)
        instr_chunk(t, (uint64_t)*istart, (uint64_t)*iend);
    return work;
}

static inline bool instr_loop_gets_ull(struct instr_thread *t, bool work, const instr_ull *istart, const instr_ull *iend)
{
    if (work && t != NULL && istart != NULL)
        instr_chunk(t, *istart, *iend);
    return work;
}

#endif

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

/* `call` starts the loop or asks for the next chunk, into *istart and *iend. */
#define START(schedule_, start_, end_, incr_, chunk_, call)                                                      \
    struct instr_thread *t = instr_thread();                                                                     \
    if (t != NULL)                                                                                               \
        instr_loop_begin(t, (schedule_), (int64_t)(start_), (int64_t)(end_), (int64_t)(incr_), (int64_t)(chunk_)); \
    const bool work = (call);                                                                                    \
    if (work && t != NULL && istart != NULL)                                                                     \
        instr_chunk(t, (uint64_t)*istart, (uint64_t)*iend);                                                            \
    return work

#define NEXT(call)                                    \
    struct instr_thread *t = instr_thread();          \
    if (t != NULL)                                    \
        instr_event0(t, INSTR_EV_DISPATCH);           \
    const bool work = (call);                         \
    if (work && t != NULL)                            \
        instr_chunk(t, (uint64_t)*istart, (uint64_t)*iend); \
    return work

#endif

/*
 * Work-sharing loops. loop_begin at the entry of a start call, chunk_begin when a chunk was handed out, dispatch at the entry of the
 * call that asks for the next one, work_end at the entry of the end call.
 */
#include "probes/team.h"
#include "probes/work_end.h"

static void chunk(struct instr_thread *t, uint64_t begin, uint64_t end)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_CHUNK_BEGIN, 4);
    if (p != NULL) {
        instr_put64(instr_put64(p, begin), end);
        instr_close(&s);
    }
}

/* GOMP_loop_start's own schedule argument: 0 runtime, 1 static, 2 dynamic, 3 guided, 4 auto, bit 31 monotonic. */
static unsigned generic_schedule(unsigned schedule, long sched)
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
        chunk(t, (uint64_t)*istart, (uint64_t)*iend);                                                            \
    return work

#define NEXT(call)                                    \
    struct instr_thread *t = instr_thread();          \
    if (t != NULL)                                    \
        instr_event0(t, INSTR_EV_DISPATCH);           \
    const bool work = (call);                         \
    if (work && t != NULL)                            \
        chunk(t, (uint64_t)*istart, (uint64_t)*iend); \
    return work

bool instr_probe_loop_start(bool (*real)(long, long, long, long, long *, long *), unsigned schedule, long start, long end, long incr,
                            long chunk_size, long *istart, long *iend)
{
    START(schedule, start, end, incr, chunk_size, real(start, end, incr, chunk_size, istart, iend));
}

bool instr_probe_loop_runtime_start(bool (*real)(long, long, long, long *, long *), unsigned schedule, long start, long end,
                                    long incr, long *istart, long *iend)
{
    START(schedule, start, end, incr, 0, real(start, end, incr, istart, iend));
}

bool instr_probe_loop_generic_start(bool (*real)(long, long, long, long, long, long *, long *, uintptr_t *, void **),
                                    unsigned schedule, long start, long end, long incr, long sched, long chunk_size, long *istart,
                                    long *iend, uintptr_t *reductions, void **mem)
{
    if (istart == NULL) /* only memory is wanted: not a loop */
        return real(start, end, incr, sched, chunk_size, istart, iend, reductions, mem);
    START(generic_schedule(schedule, sched), start, end, incr, chunk_size,
          real(start, end, incr, sched, chunk_size, istart, iend, reductions, mem));
}

bool instr_probe_loop_next(bool (*real)(long *, long *), long *istart, long *iend)
{
    NEXT(real(istart, iend));
}

bool instr_probe_loop_ull_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, instr_ull, instr_ull *, instr_ull *),
                                unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr, instr_ull chunk_size,
                                instr_ull *istart, instr_ull *iend)
{
    START(schedule | INSTR_LOOP_ULL, start, end, incr, chunk_size, real(up, start, end, incr, chunk_size, istart, iend));
}

bool instr_probe_loop_ull_runtime_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, instr_ull *, instr_ull *),
                                        unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr,
                                        instr_ull *istart, instr_ull *iend)
{
    START(schedule | INSTR_LOOP_ULL, start, end, incr, 0, real(up, start, end, incr, istart, iend));
}

bool instr_probe_loop_ull_generic_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, long, instr_ull, instr_ull *,
                                                     instr_ull *, uintptr_t *, void **),
                                        unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr, long sched,
                                        instr_ull chunk_size, instr_ull *istart, instr_ull *iend, uintptr_t *reductions, void **mem)
{
    if (istart == NULL)
        return real(up, start, end, incr, sched, chunk_size, istart, iend, reductions, mem);
    START(generic_schedule(schedule | INSTR_LOOP_ULL, sched), start, end, incr, chunk_size,
          real(up, start, end, incr, sched, chunk_size, istart, iend, reductions, mem));
}

bool instr_probe_loop_ull_next(bool (*real)(instr_ull *, instr_ull *), instr_ull *istart, instr_ull *iend)
{
    NEXT(real(istart, iend));
}

/* Doacross loops: the outermost of the `ncounts` loops is the one shared out; it counts from 0 to counts[0]. */

bool instr_probe_loop_doacross_start(bool (*real)(unsigned, long *, long, long *, long *), unsigned schedule, unsigned ncounts,
                                     long *counts, long chunk_size, long *istart, long *iend)
{
    START(schedule | INSTR_LOOP_DOACROSS, 0, counts[0], 1, chunk_size, real(ncounts, counts, chunk_size, istart, iend));
}

bool instr_probe_loop_doacross_runtime_start(bool (*real)(unsigned, long *, long *, long *), unsigned schedule, unsigned ncounts,
                                             long *counts, long *istart, long *iend)
{
    START(schedule | INSTR_LOOP_DOACROSS, 0, counts[0], 1, 0, real(ncounts, counts, istart, iend));
}

bool instr_probe_loop_doacross_generic_start(bool (*real)(unsigned, long *, long, long, long *, long *, uintptr_t *, void **),
                                             unsigned schedule, unsigned ncounts, long *counts, long sched, long chunk_size,
                                             long *istart, long *iend, uintptr_t *reductions, void **mem)
{
    START(generic_schedule(schedule | INSTR_LOOP_DOACROSS, sched), 0, counts[0], 1, chunk_size,
          real(ncounts, counts, sched, chunk_size, istart, iend, reductions, mem));
}

bool instr_probe_loop_ull_doacross_start(bool (*real)(unsigned, instr_ull *, instr_ull, instr_ull *, instr_ull *),
                                         unsigned schedule, unsigned ncounts, instr_ull *counts, instr_ull chunk_size,
                                         instr_ull *istart, instr_ull *iend)
{
    START(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, 0, counts[0], 1, chunk_size,
          real(ncounts, counts, chunk_size, istart, iend));
}

bool instr_probe_loop_ull_doacross_runtime_start(bool (*real)(unsigned, instr_ull *, instr_ull *, instr_ull *), unsigned schedule,
                                                 unsigned ncounts, instr_ull *counts, instr_ull *istart, instr_ull *iend)
{
    START(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, 0, counts[0], 1, 0, real(ncounts, counts, istart, iend));
}

bool instr_probe_loop_ull_doacross_generic_start(bool (*real)(unsigned, instr_ull *, long, instr_ull, instr_ull *, instr_ull *,
                                                              uintptr_t *, void **),
                                                 unsigned schedule, unsigned ncounts, instr_ull *counts, long sched,
                                                 instr_ull chunk_size, instr_ull *istart, instr_ull *iend, uintptr_t *reductions,
                                                 void **mem)
{
    START(generic_schedule(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, sched), 0, counts[0], 1, chunk_size,
          real(ncounts, counts, sched, chunk_size, istart, iend, reductions, mem));
}

void instr_probe_loop_end(void (*real)(void))
{
    instr_work_end_barrier(real);
}

void instr_probe_loop_end_nowait(void (*real)(void))
{
    instr_work_end_nowait(real);
}

bool instr_probe_loop_end_cancel(bool (*real)(void))
{
    return instr_work_end_cancel(real);
}

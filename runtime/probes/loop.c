/* Work-sharing loops over long. */
#include "probes/loop.h"

#include "probes/work_end.h"

void instr_chunk(struct instr_thread *t, uint64_t begin, uint64_t end)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_CHUNK_BEGIN, 4);
    if (p != NULL) {
        instr_put64(instr_put64(p, begin), end);
        instr_close(&s);
    }
}

bool instr_probe_loop_start(bool (*real)(long, long, long, long, long *, long *), unsigned schedule, long start, long end, long incr,
                            long chunk_size, long *istart, long *iend)
{
    struct instr_thread *const t = instr_loop_starts(schedule, (int64_t)start, (int64_t)end, (int64_t)incr, (int64_t)chunk_size);
    return instr_loop_gets(t, real(start, end, incr, chunk_size, istart, iend), istart, iend);
}

bool instr_probe_loop_runtime_start(bool (*real)(long, long, long, long *, long *), unsigned schedule, long start, long end,
                                    long incr, long *istart, long *iend)
{
    struct instr_thread *const t = instr_loop_starts(schedule, (int64_t)start, (int64_t)end, (int64_t)incr, 0);
    return instr_loop_gets(t, real(start, end, incr, istart, iend), istart, iend);
}

bool instr_probe_loop_generic_start(bool (*real)(long, long, long, long, long, long *, long *, uintptr_t *, void **),
                                    unsigned schedule, long start, long end, long incr, long sched, long chunk_size, long *istart,
                                    long *iend, uintptr_t *reductions, void **mem)
{
    if (istart == NULL) /* only memory is wanted: not a loop */
        return real(start, end, incr, sched, chunk_size, istart, iend, reductions, mem);
    struct instr_thread *const t =
        instr_loop_starts(instr_generic_schedule(schedule, sched), (int64_t)start, (int64_t)end, (int64_t)incr, (int64_t)chunk_size);
    return instr_loop_gets(t, real(start, end, incr, sched, chunk_size, istart, iend, reductions, mem), istart, iend);
}

bool instr_probe_loop_next(bool (*real)(long *, long *), long *istart, long *iend)
{
    struct instr_thread *const t = instr_loop_asks();
    return instr_loop_gets(t, real(istart, iend), istart, iend);
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

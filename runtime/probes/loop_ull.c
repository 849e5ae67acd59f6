/* Work-sharing loops over unsigned long long. */
#include "probes/loop.h"

bool instr_probe_loop_ull_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, instr_ull, instr_ull *, instr_ull *),
                                unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr, instr_ull chunk_size,
                                instr_ull *istart, instr_ull *iend)
{
    struct instr_thread *const t =
        instr_loop_starts(schedule | INSTR_LOOP_ULL, (int64_t)start, (int64_t)end, (int64_t)incr, (int64_t)chunk_size);
    return instr_loop_gets_ull(t, real(up, start, end, incr, chunk_size, istart, iend), istart, iend);
}

bool instr_probe_loop_ull_runtime_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, instr_ull *, instr_ull *),
                                        unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr,
                                        instr_ull *istart, instr_ull *iend)
{
    struct instr_thread *const t = instr_loop_starts(schedule | INSTR_LOOP_ULL, (int64_t)start, (int64_t)end, (int64_t)incr, 0);
    return instr_loop_gets_ull(t, real(up, start, end, incr, istart, iend), istart, iend);
}

bool instr_probe_loop_ull_generic_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, long, instr_ull, instr_ull *,
                                                     instr_ull *, uintptr_t *, void **),
                                        unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr, long sched,
                                        instr_ull chunk_size, instr_ull *istart, instr_ull *iend, uintptr_t *reductions, void **mem)
{
    if (istart == NULL)
        return real(up, start, end, incr, sched, chunk_size, istart, iend, reductions, mem);
    struct instr_thread *const t =
        instr_loop_starts(instr_generic_schedule(schedule | INSTR_LOOP_ULL, sched), (int64_t)start, (int64_t)end,
                          (int64_t)incr, (int64_t)chunk_size);
    return instr_loop_gets_ull(t, real(up, start, end, incr, sched, chunk_size, istart, iend, reductions, mem), istart, iend);
}

bool instr_probe_loop_ull_next(bool (*real)(instr_ull *, instr_ull *), instr_ull *istart, instr_ull *iend)
{
    struct instr_thread *const t = instr_loop_asks();
    return instr_loop_gets_ull(t, real(istart, iend), istart, iend);
}

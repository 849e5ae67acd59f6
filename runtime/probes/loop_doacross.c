/* Doacross loops: the outermost of the `ncounts` loops is the one shared out; it counts from 0 to counts[0]. */
#include "probes/loop.h"
#include "probes/local.h"

/* For the waits of this loop (probes/doacross.c). */
static void remember(unsigned ncounts)
{
    struct instr_local *local = &instr_local;
    local->doacross = ncounts;
    if (local->widest < ncounts)
        local->widest = ncounts;
}

bool instr_probe_loop_doacross_start(bool (*real)(unsigned, long *, long, long *, long *), unsigned schedule, unsigned ncounts,
                                     long *counts, long chunk_size, long *istart, long *iend)
{
    remember(ncounts);
    struct instr_thread *const t = instr_loop_starts(schedule | INSTR_LOOP_DOACROSS, 0, (int64_t)counts[0], 1, (int64_t)chunk_size);
    return instr_loop_gets(t, real(ncounts, counts, chunk_size, istart, iend), istart, iend);
}

bool instr_probe_loop_doacross_runtime_start(bool (*real)(unsigned, long *, long *, long *), unsigned schedule, unsigned ncounts,
                                             long *counts, long *istart, long *iend)
{
    remember(ncounts);
    struct instr_thread *const t = instr_loop_starts(schedule | INSTR_LOOP_DOACROSS, 0, (int64_t)counts[0], 1, 0);
    return instr_loop_gets(t, real(ncounts, counts, istart, iend), istart, iend);
}

bool instr_probe_loop_doacross_generic_start(bool (*real)(unsigned, long *, long, long, long *, long *, uintptr_t *, void **),
                                             unsigned schedule, unsigned ncounts, long *counts, long sched, long chunk_size,
                                             long *istart, long *iend, uintptr_t *reductions, void **mem)
{
    remember(ncounts);
    struct instr_thread *const t =
        instr_loop_starts(instr_generic_schedule(schedule | INSTR_LOOP_DOACROSS, sched), 0,
                          (int64_t)counts[0], 1, (int64_t)chunk_size);
    return instr_loop_gets(t, real(ncounts, counts, sched, chunk_size, istart, iend, reductions, mem), istart, iend);
}

bool instr_probe_loop_ull_doacross_start(bool (*real)(unsigned, instr_ull *, instr_ull, instr_ull *, instr_ull *),
                                         unsigned schedule, unsigned ncounts, instr_ull *counts, instr_ull chunk_size,
                                         instr_ull *istart, instr_ull *iend)
{
    remember(ncounts);
    struct instr_thread *const t =
        instr_loop_starts(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, 0, (int64_t)counts[0], 1, (int64_t)chunk_size);
    return instr_loop_gets_ull(t, real(ncounts, counts, chunk_size, istart, iend), istart, iend);
}

bool instr_probe_loop_ull_doacross_runtime_start(bool (*real)(unsigned, instr_ull *, instr_ull *, instr_ull *), unsigned schedule,
                                                 unsigned ncounts, instr_ull *counts, instr_ull *istart, instr_ull *iend)
{
    remember(ncounts);
    struct instr_thread *const t = instr_loop_starts(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, 0, (int64_t)counts[0], 1, 0);
    return instr_loop_gets_ull(t, real(ncounts, counts, istart, iend), istart, iend);
}

bool instr_probe_loop_ull_doacross_generic_start(bool (*real)(unsigned, instr_ull *, long, instr_ull, instr_ull *, instr_ull *,
                                                              uintptr_t *, void **),
                                                 unsigned schedule, unsigned ncounts, instr_ull *counts, long sched,
                                                 instr_ull chunk_size, instr_ull *istart, instr_ull *iend, uintptr_t *reductions,
                                                 void **mem)
{
    remember(ncounts);
    struct instr_thread *const t =
        instr_loop_starts(instr_generic_schedule(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, sched), 0,
                          (int64_t)counts[0], 1, (int64_t)chunk_size);
    return instr_loop_gets_ull(t, real(ncounts, counts, sched, chunk_size, istart, iend, reductions, mem), istart, iend);
}

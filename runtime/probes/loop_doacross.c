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
    START(schedule | INSTR_LOOP_DOACROSS, 0, counts[0], 1, chunk_size, real(ncounts, counts, chunk_size, istart, iend));
}

bool instr_probe_loop_doacross_runtime_start(bool (*real)(unsigned, long *, long *, long *), unsigned schedule, unsigned ncounts,
                                             long *counts, long *istart, long *iend)
{
    remember(ncounts);
    START(schedule | INSTR_LOOP_DOACROSS, 0, counts[0], 1, 0, real(ncounts, counts, istart, iend));
}

bool instr_probe_loop_doacross_generic_start(bool (*real)(unsigned, long *, long, long, long *, long *, uintptr_t *, void **),
                                             unsigned schedule, unsigned ncounts, long *counts, long sched, long chunk_size,
                                             long *istart, long *iend, uintptr_t *reductions, void **mem)
{
    remember(ncounts);
    START(instr_generic_schedule(schedule | INSTR_LOOP_DOACROSS, sched), 0, counts[0], 1, chunk_size,
          real(ncounts, counts, sched, chunk_size, istart, iend, reductions, mem));
}

bool instr_probe_loop_ull_doacross_start(bool (*real)(unsigned, instr_ull *, instr_ull, instr_ull *, instr_ull *),
                                         unsigned schedule, unsigned ncounts, instr_ull *counts, instr_ull chunk_size,
                                         instr_ull *istart, instr_ull *iend)
{
    remember(ncounts);
    START(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, 0, counts[0], 1, chunk_size,
          real(ncounts, counts, chunk_size, istart, iend));
}

bool instr_probe_loop_ull_doacross_runtime_start(bool (*real)(unsigned, instr_ull *, instr_ull *, instr_ull *), unsigned schedule,
                                                 unsigned ncounts, instr_ull *counts, instr_ull *istart, instr_ull *iend)
{
    remember(ncounts);
    START(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, 0, counts[0], 1, 0, real(ncounts, counts, istart, iend));
}

bool instr_probe_loop_ull_doacross_generic_start(bool (*real)(unsigned, instr_ull *, long, instr_ull, instr_ull *, instr_ull *,
                                                              uintptr_t *, void **),
                                                 unsigned schedule, unsigned ncounts, instr_ull *counts, long sched,
                                                 instr_ull chunk_size, instr_ull *istart, instr_ull *iend, uintptr_t *reductions,
                                                 void **mem)
{
    remember(ncounts);
    START(instr_generic_schedule(schedule | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL, sched), 0, counts[0], 1, chunk_size,
          real(ncounts, counts, sched, chunk_size, istart, iend, reductions, mem));
}

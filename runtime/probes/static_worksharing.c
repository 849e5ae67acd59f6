/*
 * Static loops of GCC 17, which asks one function for both numbers: the real part of its result is the number of threads, the
 * imaginary part the thread's own. The _start forms (-fopenmp-ompt) are followed by a dispatch for each chunk and an end.
 */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/loop.h"
#include "probes/static_loop.h"
#include "probes/work_end.h"

instr_complex_int instr_probe_static_loop(instr_complex_int (*real)(instr_ull), uintptr_t site, instr_ull iterations)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_static_loop(t, site);
    return real(iterations);
}

instr_complex_int instr_probe_static_loop_start(instr_complex_int (*real)(instr_ull), unsigned schedule, instr_ull iterations)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_loop_begin(t, schedule, 0, (int64_t)iterations, 1, 0);
    return real(iterations);
}

void instr_probe_static_loop_dispatch(void (*real)(instr_ull, instr_ull), instr_ull start, instr_ull iterations)
{
    struct instr_thread *t = instr_thread();
    real(start, iterations);
    if (t != NULL)
        instr_chunk(t, start, start + iterations);
}

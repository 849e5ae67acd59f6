// Regions in regions: two active levels of 2 threads, then a third level that is not active any more (one thread).
// Level 1: 1 region of 2; level 2: 2 regions of 2; level 3: 4 regions of 1.
//# Construct: nested regions
//# Env: OMP_MAX_ACTIVE_LEVELS=2
//# Events: parallel_begin = 1 + 2 + 4
//# Events: parallel_end = 1 + 2 + 4
//# Events: implicit_begin = 2 + 4 + 4
//# Events: implicit_end = 2 + 4 + 4
//# Events: implicit_begin{thread_num=1} = 1 + 2
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int hits = 0, levels = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        hits++;
#pragma omp atomic
        levels += omp_get_level() * 10 + omp_get_active_level();
    }
    printf("%d %d\n", hits, levels);
    return !(hits == 4 && levels == 4 * 32);
}

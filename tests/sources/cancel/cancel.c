// Cancellation of a region, a loop, sections and a taskgroup: results and status as without us; open constructs are closed.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_CANCELLATION=true
//# Expect: parallel_regions[*].count = 4
#include <stdio.h>

int main(void)
{
    int region = 0, loop = 0, sections = 0, group = 0;
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp cancel parallel
#pragma omp atomic
        region++;
    }
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 1000; i++) {
#pragma omp cancel for
#pragma omp atomic
            loop++;
        }
    }
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
#pragma omp atomic
                sections++;
            }
#pragma omp section
            {
#pragma omp cancellation point sections
            }
        }
    }
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp cancel taskgroup
#pragma omp atomic
                group++;
            }
        }
    }
    printf("%d %d %d %d\n", region, loop, sections, group);
    return 0;
}

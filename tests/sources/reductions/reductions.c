// Task reductions: the runtime writes into the data blocks of regions and tasks, so these must be the program's own.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[*].count = 3
//# Expect: tasks.executed = 12 + 10 + 12
#include <stdio.h>

int main(void)
{
    long region = 0, loop = 0, group = 0;
#pragma omp parallel reduction(task, + : region)
    {
        for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : region) firstprivate(i)
            region += i;
        }
    }
#pragma omp parallel
    {
#pragma omp for reduction(task, + : loop) schedule(dynamic, 2)
        for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : loop) firstprivate(i)
            loop += i;
        }
    }
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : group)
        for (int i = 0; i < 12; i++) {
#pragma omp task in_reduction(+ : group) firstprivate(i)
            group += i;
        }
    }
    printf("%ld %ld %ld\n", region, loop, group);
    return region == 18 && loop == 45 && group == 66 ? 0 : 1;
}

// strict: exactly as many iterations, or tasks, as said: grainsize(strict: 7) of 40 is 6 tasks (the last of 5), num_tasks(strict: 6) is 6.
//# Construct: taskloop, strict
//# SkipCompiler: libomp clang 14 does not support strict; libomp 14 takes GCC's call for a plain grainsize (40/7 = 5 tasks)
//# Env: OMP_NUM_THREADS=2
//# Events: taskloop_begin = 2
//# Events: taskloop_task = 6 + 6
//# Events: task_begin = 6 + 6
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(strict : 7) shared(sum)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sum += i;
        }
#pragma omp taskloop num_tasks(strict : 6) shared(sum)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sum += i;
        }
    }
    printf("%d\n", sum);
    return sum != 2 * 780;
}

// taskloop: 6 tasks of 60 iterations, then 10 of 4 iterations each (grainsize strict), signed and unsigned.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.executed = 6 + 10 + 5
//# Events: taskloop_begin = 3
//# Events: taskloop_end = 3
//# Events: taskloop_task = 6 + 10 + 5
//# Events: task_begin = 6 + 10 + 5
//# Events: task_end = 6 + 10 + 5
#include <stdio.h>

int main(void)
{
    long sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(6) shared(sum)
        for (int i = 0; i < 60; i++) {
#pragma omp atomic
            sum += i;
        }
#pragma omp taskloop grainsize(strict : 4) shared(sum)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sum += i;
        }
#pragma omp taskloop num_tasks(5) shared(sum)
        for (unsigned long long i = 0x8000000000000000ULL; i < 0x8000000000000032ULL; i++) {
#pragma omp atomic
            sum += (long)(i - 0x8000000000000000ULL);
        }
    }
    printf("%ld\n", sum);
    return sum == 1770 + 780 + 1225 ? 0 : 1;
}

// taskloop: num_tasks(6) of 60; grainsize(4) of 40: 10; unsigned 64 bits, num_tasks(5) of 50; collapse of 6 x 5, num_tasks(3); nogroup, num_tasks(4); if(0),
// num_tasks(2): undeferred; simd, num_tasks(2). A task is told when it begins by libgomp, when it is created by libomp.
//# Construct: taskloop; taskloop, unsigned 64 bits
//# Unseen@libomp: libomp reports a taskgroup around each taskloop, and the pieces when they are created
//# Env: OMP_NUM_THREADS=2
//# Events: taskloop_begin = 7
//# Events: taskloop_end = 7
//# Events: taskloop_task + task_create = 6 + 10 + 5 + 3 + 4 + 2 + 2
//# Events: task_begin = 6 + 10 + 5 + 3 + 4 + 2 + 2
//# Events: task_end = 6 + 10 + 5 + 3 + 4 + 2 + 2
//# Events@libgomp: taskloop_task = 6 + 10 + 5 + 3 + 4 + 2 + 2
//# Events@libgomp: taskgroup_begin = 0
//# Events@libomp: taskgroup_begin = 6
//# Edges: 0
#include <stdio.h>

static long sum;

static void add(long n)
{
#pragma omp atomic
    sum += n;
}

int main(int argc, char **argv)
{
    (void)argv;
    const unsigned long long low = 0x8000000000000000ULL;
    const int n = argc * 60;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(6)
        for (int i = 0; i < n; i++)
            add(i);
#pragma omp taskloop grainsize(4)
        for (int i = n - 20; i > 0; i--)
            add(i);
#pragma omp taskloop num_tasks(5)
        for (unsigned long long i = low; i < low + 50; i++)
            add((long)(i - low));
#pragma omp taskloop collapse(2) num_tasks(3)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 5; j++)
                add(i * j);
#pragma omp taskloop nogroup num_tasks(4)
        for (int i = 0; i < 8; i++)
            add(i);
#pragma omp taskloop num_tasks(2) if (n < 0)
        for (int i = 0; i < 8; i++)
            add(i);
#pragma omp taskloop simd num_tasks(2)
        for (int i = 0; i < 8; i++)
            add(i);
    }
    printf("%ld\n", sum);
    return sum != 1770 + 820 + 1225 + 150 + 3 * 28;
}

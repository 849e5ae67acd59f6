// Guided loops: each chunk is the rest divided by the number of threads, at least c; the sequence does not depend on who takes it.
// 100 iterations, 3 threads, at least 1: 34 22 15 10 7 4 3 2 1 1 1; at least 10: 34 22 15 10 10 9.
//# Flags: -O2 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Events: loop_begin = 3 + 3
//# Events: chunk_begin = 11 + 6
//# Events: dispatch = 11 + 6
//# Events: work_end = 3 + 3
#include <stdio.h>

static long any(int n)
{
    long sum = 0;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static long at_least(int n, int chunk)
{
    long sum = 0;
#pragma omp parallel for schedule(monotonic : guided, chunk) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%ld %ld\n", any(99 + argc), at_least(99 + argc, 9 + argc));
    return 0;
}

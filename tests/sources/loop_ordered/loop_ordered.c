// Ordered loops: chunks of 4 out of 24 iterations are 6; the ordered block is entered once an iteration.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_SCHEDULE=guided,4
//# Events: loop_begin = 4*3
//# Events: chunk_begin = 6 + 6 + 5 + 3
//# Events: mutex_acquire{kind=4} = 4*24
//# Events: mutex_acquired{kind=4} = 4*24
//# Events: mutex_released{kind=4} = 4*24
//# Events: mutex_acquire = 4*24
//# Events: work_end = 4*3
#include <stdio.h>

enum { N = 24 };

static void statically(int n)
{
#pragma omp parallel for ordered schedule(static, 4)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        printf("s%d ", i);
    }
}

static void dynamically(int n)
{
#pragma omp parallel for ordered schedule(dynamic, 4)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        printf("d%d ", i);
    }
}

// Guided with chunks of at least 4 (OMP_SCHEDULE) gives 8 6 4 4 2.
static void at_run_time(int n)
{
#pragma omp parallel for ordered schedule(runtime)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        printf("r%d ", i);
    }
}

// Without a chunk size the static schedule gives each of 3 threads one chunk.
static void evenly(int n)
{
#pragma omp parallel for ordered schedule(static)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        printf("e%d ", i);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    int n = N - 1 + argc;
    statically(n);
    dynamically(n);
    at_run_time(n);
    evenly(n);
    printf("\n");
    return 0;
}

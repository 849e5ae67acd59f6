// Deep recursion of tasks, and of nested regions, on small stacks: what a probe adds to a level is bounded. With the argument
// `measure` it prints the bytes of stack between two levels of each recursion, to compare the plain program with the traced one.
//
//# Flags: -O1 -fopenmp
//# Flags@sparc-linux: -latomic
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false OMP_STACKSIZE=256k OMP_MAX_ACTIVE_LEVELS=8
//# Expect: tasks.created = 2*3*25
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 24

static uintptr_t places[DEPTH + 1];
static long sum;

static __attribute__((noinline)) void here(int depth)
{
    char local;
    places[depth] = (uintptr_t)&local;
#pragma omp atomic
    sum += depth;
}

/* if(0) and final: each level runs inside the one before, on the same stack. */
static __attribute__((noinline)) void undeferred(int depth)
{
    here(depth);
#pragma omp task if (0)
    if (depth > 0)
        undeferred(depth - 1);
}

static __attribute__((noinline)) void waited(int depth)
{
    here(depth);
#pragma omp task
    if (depth > 0)
        waited(depth - 1);
#pragma omp taskwait
}

static __attribute__((noinline)) void with_data(int depth)
{
    char data[300];
    memset(data, depth, sizeof data);
    here(depth);
#pragma omp task if (0) firstprivate(data)
    {
        sum += data[17] - depth;
        if (depth > 0)
            with_data(depth - 1);
    }
}

static __attribute__((noinline)) void regions(int depth)
{
    here(depth);
#pragma omp parallel num_threads(1)
    if (depth > 0)
        regions(depth - 1);
}

static void tell(int measure, const char *what, int depth)
{
    if (measure)
        printf("%s %ld\n", what, (long)(places[1] - places[0]));
    printf("%s %d levels\n", what, depth);
}

int main(int argc, char **argv)
{
    const int measure = argc > 1 && strcmp(argv[1], "measure") == 0;
#pragma omp parallel
    {
        const int last = omp_get_thread_num() == omp_get_num_threads() - 1; /* a thread with a stack of OMP_STACKSIZE */
        if (last)
            undeferred(DEPTH);
#pragma omp barrier
        if (last)
            with_data(DEPTH);
#pragma omp barrier
        if (last)
            waited(DEPTH);
    }
    tell(0, "tasks", DEPTH);
    printf("sum %ld\n", sum);
#pragma omp parallel num_threads(1)
    {
        undeferred(DEPTH);
        tell(measure, "undeferred", DEPTH);
        with_data(DEPTH);
        tell(measure, "with data", DEPTH);
        waited(DEPTH);
        tell(measure, "waited", DEPTH);
        regions(DEPTH);
        tell(measure, "regions", DEPTH);
    }
    printf("sum %ld\n", sum);
    return 0;
}

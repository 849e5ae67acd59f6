/*
 * A chain of tasks with one `inout` dependence each, on one thread.
 *
 *   tasks TASKS_PER_BLOCK
 */
#include "bench.h"

static long counter;

static double task_block(long tasks)
{
    double begin = bench_now();
#pragma omp parallel num_threads(1)
#pragma omp single
    for (long i = 0; i < tasks; i++) {
#pragma omp task depend(inout : counter)
        counter++;
    }
    return bench_now() - begin;
}

int main(int argc, char **argv)
{
    long tasks = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    double times[BENCH_BLOCKS];
    task_block(tasks);
    for (int block = 0; block < BENCH_BLOCKS; block++)
        times[block] = task_block(tasks);
    bench_print("task", times, tasks);
    return counter == tasks * (BENCH_BLOCKS + 1) ? 0 : 1;
}

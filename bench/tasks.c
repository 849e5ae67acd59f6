/*
 * A chain of tasks with one `inout` dependence each, on one thread.
 *
 *   tasks TASKS_PER_BLOCK BLOCKS
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
    struct bench bench = bench_arguments(argc, argv);
    double times[BENCH_LARGEST_BLOCKS];
    task_block(bench.operations);
    for (int block = 0; block < bench.blocks; block++)
        times[block] = task_block(bench.operations);
    bench_print("task", &bench, times);
    return counter == bench.operations * (bench.blocks + 1) ? 0 : 1;
}

/*
 * Empty parallel regions on two threads.
 *
 *   regions REGIONS_PER_BLOCK BLOCKS
 */
#include "bench.h"

static double region_block(long regions)
{
    double begin = bench_now();
    for (long i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2)
        __asm__ volatile("" ::: "memory");
    }
    return bench_now() - begin;
}

int main(int argc, char **argv)
{
    struct bench bench = bench_arguments(argc, argv);
    double times[BENCH_LARGEST_BLOCKS];
    region_block(bench.operations);
    for (int block = 0; block < bench.blocks; block++)
        times[block] = region_block(bench.operations);
    bench_print("region", &bench, times);
    return 0;
}

/*
 * Empty parallel regions on two threads.
 *
 *   regions REGIONS_PER_BLOCK
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
    long regions = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    double times[BENCH_BLOCKS];
    region_block(regions);
    for (int block = 0; block < BENCH_BLOCKS; block++)
        times[block] = region_block(regions);
    bench_print("region", times, regions);
    return 0;
}

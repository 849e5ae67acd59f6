/*
 * User regions: sensors and counters are read at their begin and end when INSTR_SENSORS_AT says so.
 *
 *   sensors REGIONS_PER_BLOCK BLOCKS
 */
#include "bench.h"

#include <instr/instr.h>

static double region_block(long regions)
{
    double begin = bench_now();
    for (long i = 0; i < regions; i++) {
        instr_region_begin("region");
        instr_region_end();
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

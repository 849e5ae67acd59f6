/* Timing of blocks of operations: each program prints the median and the least time of one operation over
 * several blocks, in ns. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_LARGEST_BLOCKS = 1000 };

/* Arguments of every program: operations in a block, number of blocks. */
struct bench {
    long operations;
    int blocks;
};

static inline struct bench bench_arguments(int argc, char **argv)
{
    struct bench bench = {argc > 1 ? strtol(argv[1], NULL, 10) : 10000, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 15};
    if (bench.operations < 1 || bench.blocks < 1 || bench.blocks > BENCH_LARGEST_BLOCKS) {
        fprintf(stderr, "usage: %s OPERATIONS BLOCKS, at most %d blocks\n", argv[0], BENCH_LARGEST_BLOCKS);
        exit(2);
    }
    return bench;
}

static inline double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the times of the blocks and prints median and minimum for one of `operations`. */
static inline void bench_print(const char *name, const struct bench *bench, double *times)
{
    qsort(times, (size_t)bench->blocks, sizeof times[0], bench_compare);
    double operations = (double)bench->operations;
    printf("%s %.4f %.4f\n", name, times[bench->blocks / 2] / operations, times[0] / operations);
}

#endif

/* Timing of blocks of operations: each program prints the median and the least time of one operation over
 * several blocks, in ns. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_BLOCKS = 15 };

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
static inline void bench_print(const char *name, double times[BENCH_BLOCKS], long operations)
{
    qsort(times, BENCH_BLOCKS, sizeof times[0], bench_compare);
    printf("%s %.4f %.4f\n", name, times[BENCH_BLOCKS / 2] / (double)operations, times[0] / (double)operations);
}

#endif

/*
 * Work of a known amount, eight calls deep: what samples take of it shows in the thread's processor time, which other programs on the
 * machine hardly change.
 *
 *   sampling ADDITIONS_PER_BLOCK BLOCKS
 */
#include "bench.h"

#include <instr/instr.h>
#include <stdint.h>

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t work(int depth, long additions)
{
    uint64_t sum = 0;
    if (depth > 0) {
        sum = work(depth - 1, additions);
        return sum + sink;
    }
    for (long i = 0; i < additions; i++)
        sum = sum * 31 + (uint64_t)i;
    sink = sum;
    return sum;
}

static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double block(long additions)
{
    double begin = processor_time();
    work(8, additions);
    return processor_time() - begin;
}

int main(int argc, char **argv)
{
    struct bench bench = bench_arguments(argc, argv);
    double times[BENCH_LARGEST_BLOCKS];
    instr_event(1, 1); /* from here on the thread is sampled */
    block(bench.operations);
    for (int i = 0; i < bench.blocks; i++)
        times[i] = block(bench.operations);
    bench_print("work", &bench, times);
    return 0;
}

/*
 * malloc and free in turn: "plain" by pointers that the linker's --wrap does not see, "traced" as any program calls them.
 *
 *   memory PAIRS_PER_BLOCK BLOCKS
 */
#define _GNU_SOURCE
#include "bench.h"

#include <dlfcn.h>

static void *volatile kept;

static double traced_block(long pairs)
{
    const double begin = bench_now();
    for (long i = 0; i < pairs; i++) {
        kept = malloc(64);
        free(kept);
    }
    return bench_now() - begin;
}

static double plain_block(long pairs, void *(*get)(size_t), void (*give)(void *))
{
    const double begin = bench_now();
    for (long i = 0; i < pairs; i++) {
        kept = get(64);
        give(kept);
    }
    return bench_now() - begin;
}

int main(int argc, char **argv)
{
    struct bench bench = bench_arguments(argc, argv);
    static double plain[BENCH_LARGEST_BLOCKS];
    static double traced[BENCH_LARGEST_BLOCKS];
    union {
        void *object;
        void *(*get)(size_t);
        void (*give)(void *);
    } get, give;
    get.object = dlsym(RTLD_DEFAULT, "malloc");
    give.object = dlsym(RTLD_DEFAULT, "free");
    if (get.object == NULL || give.object == NULL)
        return 1;
    plain_block(bench.operations, get.get, give.give);
    traced_block(bench.operations);
    for (int block = 0; block < bench.blocks; block++) {
        plain[block] = plain_block(bench.operations, get.get, give.give);
        traced[block] = traced_block(bench.operations);
    }
    bench_print("plain", &bench, plain);
    bench_print("traced", &bench, traced);
    return 0;
}

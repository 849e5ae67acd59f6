/* Parallel regions, work-sharing constructs and barriers. */
#include "constructs.h"

#include <omp.h>

static void parallel_block(long operations)
{
    for (long i = 0; i < operations; i++) {
#pragma omp parallel
        nothing();
    }
}

static void barrier_block(long operations)
{
#pragma omp parallel
    for (long i = 0; i < operations; i++) {
#pragma omp barrier
        nothing();
    }
}

/* A function of its own, as in real programs: inlined, GCC would ask for the thread's number once for all loops. */
static void __attribute__((noinline)) static_loop(int iterations)
{
#pragma omp for schedule(static)
    for (int i = 0; i < iterations; i++)
        nothing();
}

static void static_block(long operations)
{
#pragma omp parallel
    for (long i = 0; i < operations; i++)
        static_loop(omp_get_num_threads());
}

static void dynamic_block(long operations)
{
#pragma omp parallel
    {
        int threads = omp_get_num_threads();
        for (long i = 0; i < operations; i++) {
#pragma omp for schedule(dynamic)
            for (int j = 0; j < threads; j++)
                nothing();
        }
    }
}

static void dynamic_chunk_block(long operations)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (long i = 0; i < operations; i++)
            nothing();
    }
}

static void guided_block(long operations)
{
#pragma omp parallel
    {
        int threads = omp_get_num_threads();
        for (long i = 0; i < operations; i++) {
#pragma omp for schedule(guided)
            for (int j = 0; j < threads; j++)
                nothing();
        }
    }
}

static void ordered_block(long operations)
{
#pragma omp parallel
    {
#pragma omp for ordered schedule(static, 1)
        for (long i = 0; i < operations; i++) {
#pragma omp ordered
            nothing();
        }
    }
}

static void doacross_block(long operations)
{
#pragma omp parallel
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (long i = 0; i < operations; i++) {
#pragma omp ordered depend(sink : i - 1)
            nothing();
#pragma omp ordered depend(source)
        }
    }
}

static void sections_block(long operations)
{
#pragma omp parallel
    for (long i = 0; i < operations; i++) {
#pragma omp sections
        {
#pragma omp section
            nothing();
#pragma omp section
            nothing();
        }
    }
}

static void single_block(long operations)
{
#pragma omp parallel
    for (long i = 0; i < operations; i++) {
#pragma omp single
        nothing();
    }
}

const struct construct work_constructs[] = {
    {"parallel", parallel_block},
    {"barrier", barrier_block},
    {"for_static", static_block},
    {"for_dynamic", dynamic_block},
    {"for_dynamic_chunk", dynamic_chunk_block},
    {"for_guided", guided_block},
    {"ordered", ordered_block},
    {"doacross", doacross_block},
    {"sections", sections_block},
    {"single", single_block},
    {NULL, NULL},
};

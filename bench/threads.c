/*
 * Threads that are made and joined one after the other; each has one user event, so that the runtime has to do with it.
 *
 *   threads THREADS_PER_BLOCK BLOCKS
 */
#include "bench.h"

#include <pthread.h>

#include <instr/instr.h>

static void *thread(void *number)
{
    instr_event(1000, (uint64_t)(uintptr_t)number);
    return NULL;
}

static double thread_block(long threads)
{
    double begin = bench_now();
    for (long i = 0; i < threads; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, thread, (void *)(uintptr_t)i) != 0 || pthread_join(id, NULL) != 0)
            exit(1);
    }
    return bench_now() - begin;
}

int main(int argc, char **argv)
{
    struct bench bench = bench_arguments(argc, argv);
    double times[BENCH_LARGEST_BLOCKS];
    thread_block(bench.operations);
    for (int block = 0; block < bench.blocks; block++)
        times[block] = thread_block(bench.operations);
    bench_print("thread", &bench, times);
    return 0;
}

/* Mutual exclusion without contention, and calls that need no team: one thread. */
#include "constructs.h"

#include <instr/instr.h>
#include <omp.h>

static void critical_block(long operations)
{
    for (long i = 0; i < operations; i++) {
#pragma omp critical
        nothing();
    }
}

static void critical_name_block(long operations)
{
    for (long i = 0; i < operations; i++) {
#pragma omp critical(of_the_benchmark)
        nothing();
    }
}

#if !defined(__clang__)
/* A type without an atomic instruction. clang calls libatomic for it, which is no construct of the OpenMP runtime. */
static long double atomic_sum;

static void atomic_block(long operations)
{
    for (long i = 0; i < operations; i++) {
#pragma omp atomic
        atomic_sum += 1.0L;
    }
}
#endif

static void lock_block(long operations)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (long i = 0; i < operations; i++) {
        omp_set_lock(&lock);
        nothing();
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
}

static void nest_lock_block(long operations)
{
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
    for (long i = 0; i < operations; i++) {
        omp_set_nest_lock(&lock);
        nothing();
        omp_unset_nest_lock(&lock);
    }
    omp_destroy_nest_lock(&lock);
}

/* Called through a pointer that the compiler cannot see through: GCC takes the function for a constant. */
static void thread_num_block(long operations)
{
    int (*volatile function)(void) = omp_get_thread_num;
    for (long i = 0; i < operations; i++)
        function();
}

static void user_event_block(long operations)
{
    for (long i = 0; i < operations; i++) {
        instr_event(1000, (uint64_t)i);
        nothing();
    }
}

static void user_region_block(long operations)
{
    for (long i = 0; i < operations; i++) {
        instr_region_begin("of the benchmark");
        nothing();
        instr_region_end();
    }
}

const struct construct mutex_constructs[] = {
    {"critical", critical_block},
    {"critical_name", critical_name_block},
#if !defined(__clang__)
    {"atomic", atomic_block},
#endif
    {"lock", lock_block},
    {"nest_lock", nest_lock_block},
    {"thread_num", thread_num_block},
    {"user_event", user_event_block},
    {"user_region", user_region_block},
    {NULL, NULL},
};

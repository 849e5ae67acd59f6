/* Tasks, created by one thread, and what waits for them. */
#include "constructs.h"

enum { LOOP_TASKS = 100 };

static char place[3];

static void task_block(long operations)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i++) {
#pragma omp task
        nothing();
    }
}

/* A chain. */
static void task_depend_block(long operations)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i++) {
#pragma omp task depend(inout : place[0])
        nothing();
    }
}

/* A chain, too: with `in` entries only, most of the time would go into libgomp's lists of all tasks that read. */
static void task_depend3_block(long operations)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i++) {
#pragma omp task depend(inout : place[0], place[1], place[2])
        nothing();
    }
}

/* The creating thread executes each at once. The condition is not known when this is compiled. */
static void task_undeferred_block(long operations)
{
    static volatile int deferred;
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i++) {
#pragma omp task if (deferred)
        nothing();
    }
}

static void taskloop_block(long operations)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i += LOOP_TASKS) {
        unsigned long left = (unsigned long)(operations - i), tasks = left < LOOP_TASKS ? left : LOOP_TASKS;
#pragma omp taskloop grainsize(1)
        for (unsigned long task = 0; task < tasks; task++)
            nothing();
    }
}

static void taskwait_block(long operations)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i++) {
#pragma omp taskwait
        nothing();
    }
}

static void taskgroup_block(long operations)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i++) {
#pragma omp taskgroup
        nothing();
    }
}

static void taskyield_block(long operations)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < operations; i++) {
#pragma omp taskyield
        nothing();
    }
}

static void cancellation_point_block(long operations)
{
#pragma omp parallel
    for (long i = 0; i < operations; i++) {
#pragma omp cancellation point parallel
        nothing();
    }
}

const struct construct task_constructs[] = {
    {"task", task_block},
    {"task_depend", task_depend_block},
    {"task_depend3", task_depend3_block},
    {"task_undeferred", task_undeferred_block},
    {"taskloop", taskloop_block},
    {"taskwait", taskwait_block},
    {"taskgroup", taskgroup_block},
    {"taskyield", taskyield_block},
    {"cancellation_point", cancellation_point_block},
    {NULL, NULL},
};

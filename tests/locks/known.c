/*
 * OpenMP's locks, so often found free and so often not. FREE times (the argument) one thread takes and gives back `lock`, `nest` twice over and, by Fortran's
 * entry, `lock` again. Then thread 0 holds each of them for 60 ms, in which thread 1 asks: `lock`, `nest` and Fortran's `lock`. One test of `lock`
 * finds it free and one does not. How long thread 1 waited, as it measures, is printed, ns.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../pthread/times.h"

extern void omp_set_lock_(omp_lock_t *);
extern void omp_unset_lock_(omp_lock_t *);

static omp_lock_t lock;
static omp_nest_lock_t nest;

static void set(int which)
{
    if (which == 0)
        omp_set_lock(&lock);
    else if (which == 1)
        omp_set_nest_lock(&nest);
    else
        omp_set_lock_(&lock);
}

static void unset(int which)
{
    if (which == 0)
        omp_unset_lock(&lock);
    else if (which == 1)
        omp_unset_nest_lock(&nest);
    else
        omp_unset_lock_(&lock);
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 1;
    long taken = 0;
    int64_t waited = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    for (long i = 0; i < count; i++) {
        set(0);
        taken++;
        unset(0);
        set(1);
        set(1);
        taken++;
        unset(1);
        unset(1);
        set(2);
        taken++;
        unset(2);
    }
#pragma omp parallel num_threads(2) reduction(+ : waited)
    for (int which = 0; which < 3; which++) {
        if (omp_get_thread_num() == 0)
            set(which);
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            rest(60);
        } else {
            const int64_t begin = now();
            set(which);
            waited += now() - begin;
        }
        unset(which);
#pragma omp barrier
    }
    const int first = omp_test_lock(&lock), second = omp_test_lock(&lock);
    omp_unset_lock(&lock);
    printf("%ld %d %d %ld\n", taken, first, second, (long)waited);
    omp_destroy_nest_lock(&nest);
    omp_destroy_lock(&lock);
    return 0;
}

/* Three regions, of which one takes EXTRA per cent longer. The steps of a chain depend on each other, so that a region's time is proportional to their number. */
#include <omp.h>
#include <stdio.h>

#ifndef EXTRA
#define EXTRA 0
#endif

enum { STEPS = 50000, EXECUTIONS = 100 };

static double results[3][64];
/* No compiler knows it. */
static volatile double start = 0.5;

static double chain(int steps)
{
    double x = start;
    for (int i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

static void first(void)
{
#pragma omp parallel
    results[0][omp_get_thread_num() % 64] = chain(STEPS / 2);
}

static void second(void)
{
#pragma omp parallel
    results[1][omp_get_thread_num() % 64] = chain(STEPS / 100 * (100 + EXTRA));
}

static void third(void)
{
#pragma omp parallel
    results[2][omp_get_thread_num() % 64] = chain(STEPS);
}

int main(void)
{
    for (int i = 0; i < EXECUTIONS; i++) {
        first();
        second();
        third();
    }
    printf("%g\n", results[0][0] + results[1][0] + results[2][0]);
    return 0;
}

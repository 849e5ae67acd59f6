/* A parallel step and a check of its result, again and again. The check runs on one thread. */
#include <math.h>
#include <stdio.h>

enum { SIZE = 400000, STEPS = 30 };

static double field[SIZE];

static void step(double time)
{
#pragma omp parallel for
    for (int i = 0; i < SIZE; i++)
        field[i] = sin(field[i] + time) + 1.5;
}

static double check(void)
{
    double sum = 0;
    /* #pragma omp parallel for reduction(+ : sum) */
    for (int i = 0; i < SIZE; i++)
        sum += sqrt(field[i]) * log(field[i]);
    return sum;
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        step(i);
        sum += check();
    }
    printf("%.6e\n", sum);
    return 0;
}

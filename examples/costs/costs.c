/*
 * What the OpenMP library's work costs on this machine, for `instr predict --costs`: regions, barriers, tasks, chunks and locks, each many
 * times, with threads that just worked and with threads that have slept. It says nothing of that itself: its trace does.
 *
 *   costs [ROUNDS]
 */
#define _POSIX_C_SOURCE 199309L
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 100, TASKS = 20 };

/* What a compiler cannot leave out, some microseconds long. */
static double work(int steps)
{
    double x = 0.5;
    for (int i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

static double sum;
static char link;

static void add(double value)
{
#pragma omp atomic
    sum += value;
}

/* One thread creates tasks, the others wait for them; then each task creates two, and waits. */
static void tasks(void)
{
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < TASKS; i++) {
#pragma omp task
            add(work(2000));
        }
        for (int i = 0; i < TASKS; i++) {
#pragma omp task
            {
                for (int child = 0; child < 2; child++) {
#pragma omp task
                    add(work(2000));
                }
#pragma omp taskwait
            }
        }
    }
}

/* Between a task and the next one that depends on it, a thread may fall asleep. */
static void chain(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(inout : link)
        add(work(20000));
    }
}

static void loop(void)
{
#pragma omp parallel
    {
        double own = 0;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < TASKS; i++)
            own += work(2000);
#pragma omp critical(table)
        sum += own;
#pragma omp barrier
        add(work(2000));
    }
}

/* Longer than threads look for work before they sleep. */
static void pause_all(void)
{
    struct timespec time = {0, 20000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    for (int round = 0; round < rounds; round++) {
        tasks();
        loop();
        if (round % 10 == 0) {
            chain();
            pause_all();
            loop();
        }
    }
    printf("%d threads: %g\n", omp_get_max_threads(), sum);
    return 0;
}

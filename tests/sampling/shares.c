/*
 * Three functions take parts of the processor time that the program measures itself and prints: "heavy 0.6003" and so on. A second
 * thread has other parts. Argument: rounds of 50 ms of each thread's time.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile uint64_t sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* About a millisecond, so that asking for the time is nothing. */
#define FOR_A_WHILE(seconds)                              \
    for (const double end_ = now() + (seconds); now() < end_;) \
        for (uint64_t i_ = 0; i_ < 500000; i_++)

static NOINLINE void heavy(double seconds)
{
    FOR_A_WHILE(seconds)
        sink += i_;
}

static NOINLINE void middle(double seconds)
{
    FOR_A_WHILE(seconds)
        sink ^= i_;
}

static NOINLINE void light(double seconds)
{
    FOR_A_WHILE(seconds)
        sink -= i_;
}

int main(int argc, char **argv)
{
    static void (*const PARTS[3])(double) = {heavy, middle, light};
    static const char *const NAMES[3] = {"heavy", "middle", "light"};
    static const double SECONDS[2][3] = {{0.030, 0.013, 0.007}, {0.011, 0.003, 0.036}};
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    double spent[3] = {0, 0, 0};
#pragma omp parallel num_threads(2)
    {
        const int me = omp_get_thread_num();
        double mine[3] = {0, 0, 0};
        for (int round = 0; round < rounds; round++)
            for (int part = 0; part < 3; part++) {
                const double before = now();
                PARTS[part](SECONDS[me][part]);
                mine[part] += now() - before;
            }
#pragma omp critical
        for (int part = 0; part < 3; part++)
            spent[part] += mine[part];
    }
    const double all = spent[0] + spent[1] + spent[2];
    for (int part = 0; part < 3; part++)
        printf("%s %.4f\n", NAMES[part], spent[part] / all);
    printf("seconds %.4f\n", all);
    return 0;
}

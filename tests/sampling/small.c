/*
 * Functions so small that half of their instructions begin or end them: `first` calls `second` calls `third` calls `fourth`, each in its own
 * ways: directly, through a pointer; `fourth` calls the C library. Nobody else calls any of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;
static volatile int zero;

static NOINLINE uint64_t fourth(uint64_t n)
{
    sink += n;
    return (uint64_t)llabs((long long)(n + sink)) + 1;
}

static NOINLINE uint64_t third(uint64_t n)
{
    return fourth(n + 3) ^ (uint64_t)zero;
}

static uint64_t (*volatile to_third)(uint64_t) = third;

static NOINLINE uint64_t second(uint64_t n)
{
    return to_third(n * 5) + (uint64_t)zero;
}

static NOINLINE uint64_t first(uint64_t n)
{
    return second(n + 1) + (uint64_t)zero;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    uint64_t sum = 0;
#pragma omp parallel num_threads(1)
    sum++; /* this thread is known from here on */
    for (const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC); clock() < end;)
        for (int i = 0; i < 1000000; i++)
            sum += first(sum);
    printf("%s\n", sum == 42 ? "?" : "done");
    return 0;
}

/*
 * Known chains of calls above `spin`, where all the time goes:
 *
 *     recursion   spin < descend ×6 < by_recursion < main
 *     outlined    spin < work < the body of a parallel region in by_region < … < by_region < main
 *     task        spin < work < the body of a task in by_task < … < by_task < main
 *
 * The number of the chain is the argument. In a leaf, the stack pointer is all there is; `spin` calls nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile uint64_t sink;

static NOINLINE uint64_t spin(uint64_t rounds)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        sink += i;
        sum ^= i * 3;
    }
    return sum;
}

static NOINLINE uint64_t work(uint64_t rounds)
{
    const uint64_t before = sink;
    return spin(rounds) + before + sink;
}

static NOINLINE uint64_t descend(int depth, uint64_t rounds)
{
    const uint64_t before = sink;
    if (depth == 0)
        return spin(rounds) ^ before;
    return descend(depth - 1, rounds) + before + sink;
}

static NOINLINE uint64_t by_recursion(uint64_t rounds)
{
    return descend(5, rounds) + sink;
}

static NOINLINE uint64_t by_region(uint64_t rounds)
{
    uint64_t sum = 0;
#pragma omp parallel num_threads(1)
    sum = work(rounds) + sink;
    return sum + sink;
}

static NOINLINE uint64_t by_task(uint64_t rounds)
{
    uint64_t sum = 0;
#pragma omp parallel num_threads(1)
    {
#pragma omp task shared(sum) if(rounds == 0)
        sum = work(rounds) + sink;
    }
    return sum + sink;
}

int main(int argc, char **argv)
{
    const int which = argc > 1 ? atoi(argv[1]) : 0;
    const double seconds = argc > 2 ? atof(argv[2]) : 0.3;
    uint64_t sum = 0;
#pragma omp parallel num_threads(1)
    sum++; /* this thread is known from here on */
    for (const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC); clock() < end;)
        sum += which == 0 ? by_recursion(3000000) : which == 1 ? by_region(3000000) : by_task(3000000);
    printf("%s\n", sum == 42 ? "?" : "done");
    return 0;
}

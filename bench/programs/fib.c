/*
 * Fibonacci numbers by double recursion: two tasks and a taskwait for each call down to a cut-off, below it plain calls.
 *
 *   fib N CUTOFF
 */
#include "program.h"

static long fib_plain(long n)
{
    return n < 2 ? n : fib_plain(n - 1) + fib_plain(n - 2);
}

static long fib(long n, long cutoff)
{
    if (n < cutoff)
        return fib_plain(n);
    long first, second;
#pragma omp task shared(first) firstprivate(n, cutoff)
    first = fib(n - 1, cutoff);
#pragma omp task shared(second) firstprivate(n, cutoff)
    second = fib(n - 2, cutoff);
#pragma omp taskwait
    return first + second;
}

static long fib_by_addition(long n)
{
    long this = 0, next = 1;
    for (long i = 0; i < n; i++) {
        long sum = this + next;
        this = next;
        next = sum;
    }
    return this;
}

static long count_tasks(long n, long cutoff)
{
    return n < cutoff ? 0 : 2 + count_tasks(n - 1, cutoff) + count_tasks(n - 2, cutoff);
}

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, "N", 1, 60);
    long cutoff = argument(argc, argv, 2, "the cut-off", 2, 60);
    long result = 0;
    double begin = now();
#pragma omp parallel
#pragma omp single
    result = fib(n, cutoff);
    double seconds = now() - begin;
    return report(argv[0], seconds, count_tasks(n, cutoff), result == fib_by_addition(n));
}

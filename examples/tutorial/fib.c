/* Fibonacci numbers by tasks. Below CUTOFF a task computes its number alone. */
#include <stdio.h>

#define CUTOFF 0

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
    if (n < CUTOFF)
        return fib(n - 1) + fib(n - 2);
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = fib(27);
    printf("%ld\n", result);
    return 0;
}

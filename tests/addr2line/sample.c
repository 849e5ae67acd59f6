// Inlined calls, loops with discriminators, outlined bodies, a static and a common symbol.
#include <stdio.h>

static int seen = 3;
int total[4];

static inline int square(int x) { return x * x; }

static int thrice(int x)
{
    for (int i = 0; i < 3; i++) x += square(x);
    return x;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += thrice(i);
    return sum;
}

int sample(int count, char **words)
{
    if (count > 3 && words[1][0] == 'x') puts("x");
    for (int i = 0; i < count; i++) total[i & 3] += i & 1 ? square(i) : thrice(i);
#pragma omp critical(sum)
    total[count & 3] += work(count);
    return printf("%d %d\n", total[0], seen);
}

#ifndef LIBRARY
int main(int count, char **words) { return sample(count, words) < 0; }
#endif

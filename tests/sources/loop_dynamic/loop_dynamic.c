// Dynamic loops: n iterations in chunks of c are ceil(n / c) chunks in all, whoever takes them; each thread enters and leaves once.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[*].count = 3
//# Events: loop_begin = 3 + 3 + 3
//# Events: chunk_begin = 15 + 34 + 7
//# Events: dispatch = 15 + 34 + 7
//# Events: work_end = 3 + 3 + 3
//# Events: work_end{nowait=1} = 3 + 3
//# Events: work_end{nowait=0} = 3
//# Events: sync_begin{kind=2} = 3
//# Events: loop_begin{chunk=7} = 3
//# Events: loop_begin{chunk=5,incr=-3} = 3
#include <stdio.h>

static long run(int n, int chunk)
{
    long sum = 0;
#pragma omp parallel
#pragma omp for schedule(dynamic, chunk) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static int entered;

static long twice(int n)
{
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < n; i++)
            sum += i;
#pragma omp atomic
        entered++;
    }
    return sum;
}

static long down(int n)
{
    long sum = 0;
#pragma omp parallel for schedule(dynamic, 5) reduction(+ : sum)
    for (int i = n; i > 0; i -= 3)
        sum += i;
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    int n = 99 + argc;
    long first = run(n, 6 + argc), second = twice(n), third = down(n);
    printf("%ld %ld %ld %d\n", first, second, third, entered);
    return 0;
}

// The entry points that compilers before GCC 9 use, reached today by the monotonic modifier; an empty loop; a loop left early by nobody.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Events: loop_begin = 2 + 2 + 2
//# Events: chunk_begin = 10 + 0 + 6
//# Events: work_end = 2 + 2 + 2
#include <stdio.h>

static long run(int n, int chunk)
{
    long sum = 0;
#pragma omp parallel for schedule(monotonic : dynamic, chunk) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static long inclusive(int n)
{
    long sum = 0;
#pragma omp parallel for schedule(nonmonotonic : dynamic, 2) reduction(+ : sum)
    for (int i = 1; i <= n; i++)
        sum += i;
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%ld %ld %ld\n", run(38 + 2 * argc, 4), run(argc - 1, 4), inclusive(11 + argc));
    return 0;
}

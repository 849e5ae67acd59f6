// Large frames in outlined bodies and deep recursion through tasks: the probes add little to the stack.
//# Flags: -O0 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_STACKSIZE=8M
//# Expect: parallel_regions[*].count = 1
//# Expect: tasks.created = 3*200
//# Expect: tasks.undeferred = 3*200
#include <stdio.h>
#include <string.h>

static long dive(int depth)
{
    volatile char frame[16 * 1024];
    long below = 0;
    frame[0] = 1;
    frame[sizeof frame - 1] = 1;
    if (depth > 0) {
#pragma omp task shared(below) if (0)
        below = dive(depth - 1);
    }
    return below + frame[0] * frame[sizeof frame - 1];
}

int main(void)
{
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        char large[2 * 1024 * 1024];
        memset(large, 1, sizeof large);
        sum += large[12345] + large[sizeof large - 1] + dive(200);
    }
    printf("%ld\n", sum);
    return sum == 3 * 203 ? 0 : 1;
}

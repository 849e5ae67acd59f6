// A function that opens a region and calls itself from each of its 2 threads: depth 3 gives 1 + 2 + 4 regions, all active.
//# Construct: nested regions
//# Env: OMP_MAX_ACTIVE_LEVELS=3
//# Events: parallel_begin = 1 + 2 + 4
//# Events: implicit_begin = 2*(1 + 2 + 4)
//# Events: implicit_end = 2*(1 + 2 + 4)
#include <stdio.h>

static int leaves(int depth)
{
    if (depth == 0)
        return 1;
    int sum = 0;
#pragma omp parallel num_threads(2)
    {
        const int below = leaves(depth - 1);
#pragma omp atomic
        sum += below;
    }
    return sum;
}

int main(void)
{
    const int sum = leaves(3);
    printf("%d\n", sum);
    return sum != 8;
}

/* Many small tasks, for ThreadSanitizer's library, which the runtime calls at each reading of a sensor. Prints their number. */
#include <stdio.h>

static long counted(int depth)
{
    long left = 1;
    long right = 0;
    if (depth == 0)
        return left;
#pragma omp task shared(left)
    left = counted(depth - 1);
    right = counted(depth - 1);
#pragma omp taskwait
    return left + right;
}

int main(void)
{
    long sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    sum = counted(13);
    printf("%ld\n", sum);
    return 0;
}

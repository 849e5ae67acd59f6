// target nowait is run by threads that libomp makes for itself, eight as a team of its own: of those only who runs the task is recorded, and
// the team is not a region of the program's.
//# Construct: threads that libomp keeps for itself
//# Unseen@clang: clang without offloading makes plain tasks of target constructs with nowait or depend, run by threads that libomp keeps for them
//# SkipCompiler: gcc libgomp has no such threads
//# SkipCompiler: gcc-libomp libomp has none of the entry points for device constructs that GCC 5 and later call (GOMP_target_ext …)
//# Env: OMP_NUM_THREADS=2
//# Events: parallel_begin = 1
//# Events: parallel_end = 1
//# Events: implicit_begin = 2
//# Events: masked_begin = 0
//# Events: task_create = 1
//# Events: task_begin = 1
//# Events: thread_begin <= 2 + 1
#include <stdio.h>

static int sum;

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp target nowait map(tofrom : sum)
        sum++;
#pragma omp taskwait
    }
    printf("%d\n", sum);
    return sum != 1;
}

// scope with a task reduction: GOMP_scope_start on every thread, one task each; the end is the unregister call, which holds the barrier.
//# Construct: scope; reduction(task)
//# SkipCompiler: libomp neither clang 14 nor libomp 14 supports a scope with a task reduction
//# Events: parallel_begin = 1
//# Events: scope_begin = 3
//# Events: work_end = 3
//# Events: task_create = 3
//# Events: task_begin = 3
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel
    {
#pragma omp scope reduction(task, + : sum)
        {
#pragma omp task in_reduction(+ : sum)
            sum += 5;
        }
    }
    printf("%d\n", sum);
    return sum != 15;
}

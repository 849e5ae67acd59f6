// task_reduction: one group, 6 tasks in the reduction.
//# Construct: task_reduction of a taskgroup
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 6
//# Events: task_begin = 6
//# Events: taskgroup_begin = 1
//# Events: sync_begin{kind=5} = 1
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum)
        for (int i = 0; i < 6; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
            sum += i;
        }
    }
    printf("%d\n", sum);
    return sum != 15;
}

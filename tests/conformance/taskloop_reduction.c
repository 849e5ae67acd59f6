// taskloop with a reduction and one in a surrounding taskgroup's reduction; num_tasks(4) and num_tasks(5).
//# Construct: reduction of a taskloop
//# Env: OMP_NUM_THREADS=2
//# Events: taskloop_begin = 2
//# Events: taskloop_task + task_create = 4 + 5
//# Events: task_begin = 4 + 5
#include <stdio.h>

int main(void)
{
    int own = 0, outer = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(4) reduction(+ : own)
        for (int i = 0; i < 40; i++)
            own += i;
#pragma omp taskgroup task_reduction(+ : outer)
        {
#pragma omp taskloop num_tasks(5) in_reduction(+ : outer)
            for (int i = 0; i < 40; i++)
                outer += i;
        }
    }
    printf("%d %d\n", own, outer);
    return !(own == 780 && outer == 780);
}

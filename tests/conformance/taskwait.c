// taskwait: 5 turns of 3 children; one in a child that has children of its own.
//# Construct: taskwait
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 5*3 + 1 + 2
//# Events: task_begin = 5*3 + 1 + 2
//# Events: sync_begin{kind=3} = 5 + 1 + 1
//# Events: sync_end{kind=3} = 5 + 1 + 1
//# Edges: 0
#include <stdio.h>

int main(void)
{
    int count = 0, bad = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < 3; k++) {
#pragma omp task shared(count)
                {
#pragma omp atomic
                    count++;
                }
            }
#pragma omp taskwait
            bad += count != 3 * (i + 1);
        }
#pragma omp task shared(bad)
        {
            int grand = 0;
            for (int k = 0; k < 2; k++) {
#pragma omp task shared(grand)
                {
#pragma omp atomic
                    grand++;
                }
            }
#pragma omp taskwait
            bad += grand != 2;
        }
#pragma omp taskwait
    }
    printf("%d %d\n", count, bad);
    return !(count == 15 && bad == 0);
}

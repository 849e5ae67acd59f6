// taskyield: one event for each call in libgomp (which does nothing else), 3 tasks of 4.
//# Construct: taskyield
//# Unseen@libomp: libomp has no callback for taskyield
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 3
//# Events: task_begin = 3
//# Events@libgomp: sync_begin{kind=6} = 3*4
#include <stdio.h>

int main(void)
{
    int count = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 3; i++) {
#pragma omp task shared(count)
        for (int k = 0; k < 4; k++) {
#pragma omp taskyield
#pragma omp atomic
            count++;
        }
    }
    printf("%d\n", count);
    return count != 12;
}

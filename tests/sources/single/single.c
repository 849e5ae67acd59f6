// single and copyprivate: one executor each time.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Events: single = 10*3 + 6*3 + 4*3
//# Events: single{executor=1} = 10 + 6 + 4
//# Events: sync_begin{kind=1} = 10*3 + 4*3
#include <stdio.h>

int main(void)
{
    int blocks = 0, received = 0;
#pragma omp parallel
    for (int i = 0; i < 10; i++) {
#pragma omp single
        blocks++;
    }
#pragma omp parallel
    for (int i = 0; i < 6; i++) {
#pragma omp single nowait
        {
#pragma omp atomic
            blocks++;
        }
    }
#pragma omp parallel
    {
        int value = -1;
        for (int i = 0; i < 4; i++) {
#pragma omp single copyprivate(value)
            value = i;
#pragma omp atomic
            received += value;
        }
    }
    printf("%d %d\n", blocks, received);
    return 0;
}

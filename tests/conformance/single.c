// single: one executor each turn, every thread meets it. 5 turns with the closing barrier, 4 with nowait.
//# Construct: single
//# Unseen@gcc,gcc-libomp: the end of a single block is not reported by GCC's calls
//# Events: parallel_begin = 2
//# Events: single{executor=1} = 5 + 4
//# Events: single = (5 + 4)*3
//# Events: sync_begin{kind=1} + sync_begin{kind=2} = 5*3
//# Events@libgomp: single_end = 0
//# Events@clang: single_end = 5 + 4
#include <stdio.h>

int main(void)
{
    int blocks = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 5; i++) {
#pragma omp single
            blocks++;
        }
    }
#pragma omp parallel
    {
        for (int i = 0; i < 4; i++) {
#pragma omp single nowait
            {
#pragma omp atomic
                blocks++;
            }
        }
    }
    printf("%d\n", blocks);
    return blocks != 9;
}

// master and masked: GCC compares thread numbers, nothing is called; clang calls begin and end on the thread that enters. 5 turns each.
//# Construct: masked, master
//# Unseen@gcc,gcc-libomp: GCC compares thread numbers for masked and master: nothing is called
//# Flags@clang: -fopenmp-version=51
//# Events: parallel_begin = 2
//# Events@gcc,gcc-libomp: masked_begin = 0
//# Events@clang: masked_begin = 5 + 5
//# Events@clang: masked_end = 5 + 5
#include <stdio.h>

int main(void)
{
    int first = 0, second = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 5; i++) {
#pragma omp master
            first++;
        }
    }
#pragma omp parallel
    {
        for (int i = 0; i < 5; i++) {
#pragma omp masked filter(1)
            second++;
        }
    }
    printf("%d %d\n", first, second);
    return !(first == 5 && second == 5);
}

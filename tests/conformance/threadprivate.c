// threadprivate with copyin; the values stay from region to region. clang puts a barrier behind each copying; GCC where the value is read through
// a reference (the array), not where it is passed by value (the scalar).
//# Construct: threadprivate, copyin
//# Events: parallel_begin = 3
//# Events: implicit_begin = 3*3
//# Events@gcc,gcc-libomp: sync_begin{kind=1} + sync_begin{kind=2} = 3
//# Events@clang: sync_begin{kind=1} + sync_begin{kind=2} = 2*3
#include <omp.h>
#include <stdio.h>

static int mine, table[8];
#pragma omp threadprivate(mine, table)

int main(void)
{
    int sum = 0;
    mine = 10;
    table[3] = 5;
#pragma omp parallel copyin(mine)
    mine += omp_get_thread_num();
#pragma omp parallel copyin(table)
    mine += table[3];
#pragma omp parallel
    {
#pragma omp atomic
        sum += mine;
    }
    printf("%d\n", sum);
    return sum != 48;
}

// single copyprivate, 6 turns: one executor, the others receive.
//# Construct: single copyprivate
//# Unseen@clang: clang makes two barriers of copyprivate
//# Unseen@gcc-libomp: GCC's copyprivate shows as barriers: libomp does not report who executed the block
//# Events: parallel_begin = 1
//# Events@gcc,clang: single{executor=1} = 6
//# Events@gcc,clang: single = 6*3
// In libgomp the executor waits twice, in GOMP_single_copy_start until it knows and in GOMP_single_copy_end.
//# Events@libgomp: sync_begin{kind=7} = 6*3 + 6
#include <stdio.h>

int main(void)
{
    int received = 0;
#pragma omp parallel
    {
        int value = -1;
        for (int i = 0; i < 6; i++) {
#pragma omp single copyprivate(value)
            value = i;
#pragma omp atomic
            received += value;
        }
    }
    printf("%d\n", received);
    return received != 3 * 15;
}

// lastprivate(conditional): GCC compares under the atomic lock, once for each thread that assigned (all 3: each owns 20 of 60 iterations).
//# Construct: lastprivate(conditional)
//# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
//# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Unseen@clang: clang 14 compares without a lock that its library has
//# Flags@clang: -fopenmp-version=50
//# Events: parallel_begin = 1
//# Events@gcc: static_loop = 3
//# Events@gcc,gcc-libomp: mutex_acquired{kind=3} = 3
//# Events@clang: loop_begin = 3
//# Events@gcc,gcc-libomp: mutex_released{kind=3} = 3
#include <stdio.h>

int main(void)
{
    int last = -1;
#pragma omp parallel for lastprivate(conditional : last) schedule(static)
    for (int i = 0; i < 60; i++)
        if (i % 7 == 0)
            last = i;
    printf("%d\n", last);
    return last != 56;
}

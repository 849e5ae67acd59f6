// lastprivate(conditional): GCC compares under the atomic lock, once for each thread that assigned (all 3: each owns 20 of 60 iterations).
//# SkipCompiler: clang clang 14 calls the critical section of the runtime with a name of its own for it; not the same count
//# Events: parallel_begin = 1
//# Events@gcc: static_loop = 3
//# Events: mutex_acquired{kind=3} = 3
//# Events: mutex_released{kind=3} = 3
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

// scope: GCC calls nothing for it but the barrier at its end (4 turns); with a task reduction it tells its beginning: see scope_task.c.
//# Construct: scope
//# Unseen@gcc,gcc-libomp: GCC calls nothing for scope but the barrier at its end, unless it has a task reduction
//# SkipCompiler: clang clang 14 does not support the construct
//# Events: parallel_begin = 1
//# Events: sync_begin{kind=1} + sync_begin{kind=2} = 4*3
//# Events: scope_begin = 0
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 4; i++) {
#pragma omp scope reduction(+ : sum)
            sum += i;
        }
    }
    printf("%d\n", sum);
    return sum != 3 * 6;
}

// The loop construct: GCC shares it out like a static loop.
//# Construct: loop construct
//# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
//# SkipCompiler: clang clang 14 does not support the construct
//# Events: parallel_begin = 2
//# Events@gcc: static_loop = 2*3
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel loop reduction(+ : sum)
    for (int i = 0; i < 30; i++)
        sum += i;
#pragma omp parallel
#pragma omp loop bind(parallel) reduction(+ : sum)
    for (int i = 0; i < 30; i++)
        sum += i;
    printf("%d\n", sum);
    return sum != 2 * 435;
}

// Two static loops in one region. Without optimisation GCC asks for number and thread before each of them; with it, one pair of calls
// serves both (the getters are `const` functions), so that the second loop cannot be seen: `inferred` means this.
//# Construct: loop, static
//# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
//# Flags@gcc,gcc-libomp: -O0
//# Events: parallel_begin = 1
//# Events@gcc: static_loop = 2*3
//# Events@clang: static_loop = 0
//# Events@clang: loop_begin = 2*3
//# Events@clang: work_end = 2*3
//# Events: sync_begin{kind=1} + sync_begin{kind=2} = 2*3
#include <stdio.h>

enum { N = 30 };
static int a[N], b[N];

int main(void)
{
    int after = 0, bad = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            a[i] = i;
#pragma omp for
        for (int i = 0; i < N; i++)
            b[i] = a[N - 1 - i];
#pragma omp atomic
        after++;
    }
    for (int i = 0; i < N; i++)
        bad += b[i] != N - 1 - i;
    printf("%d %d\n", after, bad);
    return !(after == 3 && bad == 0);
}

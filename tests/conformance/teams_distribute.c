// teams distribute parallel for: a league of 2, a region in each; distribute and the loop are inline for GCC.
//# Construct: distribute
//# Unseen@gcc,gcc-libomp: GCC compiles distribute, and the static loop in it, inline
//# Env: KMP_TEAMS_THREAD_LIMIT=64
//# Events@clang: loop_begin{schedule&0x8000=0x8000} = 2
//# Events@clang: loop_begin{schedule&0x8000=0} = 2*2
//# Events: parallel_begin{kind&255=3} = 1
//# Events: parallel_begin{kind&255=0} = 2
//# Events: implicit_begin = 2 + 2*2
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    printf("%d\n", sum);
    return sum != 4950;
}

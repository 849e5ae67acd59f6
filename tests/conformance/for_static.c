// Static loops, one in each region: without and with a chunk size, auto, backwards.
// GCC 16 and before compile them inline: all that shows is the pair of getters at the loop's start, once for each thread (inferred). clang
// calls the run-time library at begin and end. A loop in the middle of a region has a barrier, explicit as far as libgomp is told.
//# Construct: loop, static
//# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
//# Events: parallel_begin = 5
//# Events: implicit_begin = 5*3
//# Events@gcc: static_loop = 5*3
//# Events@gcc: loop_begin = 0
// (libomp: schedule(auto) is a loop of the dispatcher, reported all the same.)
//# Events@clang: loop_begin = 5*3
//# Events@clang: work_end = 5*3
//# Events@clang: static_loop = 0
//# Events@libgomp: chunk_begin = 0
// (libomp 15 and later tell the chunks of loops with a chunk size, 15 and 16 the first one of each thread.)
//# Events@clang: chunk_begin >= 0
//# Events: sync_begin{kind=1} + sync_begin{kind=2} = 3
#include <stdio.h>

enum { N = 60 };
static int hits[N];

int main(void)
{
    int after = 0, bad = 0;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        hits[i]++;
#pragma omp parallel for schedule(static, 4)
    for (int i = 0; i < N; i++)
        hits[i]++;
#pragma omp parallel for schedule(auto)
    for (int i = 0; i < N; i++)
        hits[i]++;
#pragma omp parallel for
    for (int i = N - 1; i >= 0; i -= 3)
        hits[i]++;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            hits[i]++;
#pragma omp atomic
        after++;
    }
    for (int i = 0; i < N; i++)
        bad += hits[i] != (i % 3 == 2 ? 5 : 4);
    printf("%d %d\n", after, bad);
    return !(after == 3 && bad == 0);
}

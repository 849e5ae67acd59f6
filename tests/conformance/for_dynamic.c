// Dynamic loops; n iterations in chunks of c are ceil(n / c) chunks. Bounds that the compiler does not know (a call of its own for the loop) and
// constant ones (one call for region and loop), backwards, nowait, with a chunk of 1.
//   100/7: 15   100/3: 34   constant 60/5: 12   20 backwards steps of 3 from 59 in chunks of 4 steps: 5   10/1: 10
// libomp 14 has no callback for chunks: the loops show, their chunks do not; the barriers of GCC's objects are of one kind
// there, whatever they belong to.
//# Construct: loop, dynamic
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Events: parallel_begin = 5
//# Events: loop_begin = 5*3
//# Events: work_end = 5*3
//# Events@libgomp: chunk_begin = 15 + 34 + 12 + 5 + 10
//# Events@libgomp: loop_begin{schedule&255=2} = 5*3
//# Events@libgomp: parallel_begin{kind=1} = 1
//# Events@libgomp: work_end{nowait=0} = 3
//# Events@gcc,clang: sync_begin{kind=2} = 3
//# Events@gcc-libomp: sync_begin{kind=1} + sync_begin{kind=2} = 3
#include <stdio.h>

static int hits[100];

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 100;
    int after = 0, sum = 0;
#pragma omp parallel for schedule(dynamic, 7)
    for (int i = 0; i < n; i++)
        hits[i]++;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < n; i++)
            hits[i]++;
#pragma omp atomic
        after++;
    }
#pragma omp parallel for schedule(dynamic, 5)
    for (int i = 0; i < 60; i++)
        hits[i]++;
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = n - 41; i >= 0; i -= 3)
        hits[i]++;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < n / 10; i++)
            hits[i]++;
#pragma omp atomic
        after++;
    }
    for (int i = 0; i < 100; i++)
        sum += hits[i];
    printf("%d %d\n", after, sum);
    return !(after == 6 && sum == 100 + 100 + 60 + 20 + 10);
}

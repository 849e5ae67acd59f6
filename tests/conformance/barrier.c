// barrier: 8 turns of 3 threads; the closing barrier of the region is part of the region. flush is a fence: nothing is called by GCC.
//# Construct: barrier
//# Events: parallel_begin = 1
//# Events: sync_begin{kind=1} = 8*3
//# Events: sync_end{kind=1} = 8*3
//# Events: sync_begin{kind=2} = 0
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int step[3] = {0, 0, 0}, bad = 0;
#pragma omp parallel
    {
        const int self = omp_get_thread_num();
        for (int i = 0; i < 8; i++) {
            step[self] = i;
#pragma omp flush
#pragma omp barrier
            if (i % 2 == 0 && step[(self + 1) % 3] < i) {
#pragma omp atomic
                bad++;
            }
        }
    }
    printf("%d\n", bad);
    return bad;
}

// The parallel construct: plain, with num_threads, with a false if clause, once for each of 4 turns.
// Regions: 1 of 3 threads, 1 of 2, 1 of 1, 4 of 3. clang runs the region of a false if clause through a call of its own; it is a region all the same.
//# Construct: parallel
//# Events: parallel_begin = 1 + 1 + 1 + 4
//# Events: parallel_end = 1 + 1 + 1 + 4
//# Events: implicit_begin = 3 + 2 + 1 + 4*3
//# Events: implicit_end = 3 + 2 + 1 + 4*3
//# Events: implicit_begin{thread_num=2} = 1 + 4
#include <stdio.h>

int main(void)
{
    int hits[4] = {0, 0, 0, 0}, off = 0;
#pragma omp parallel
    {
#pragma omp atomic
        hits[0]++;
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        hits[1]++;
    }
#pragma omp parallel if (off)
    hits[2]++;
    for (int i = 0; i < 4; i++) {
#pragma omp parallel
        {
#pragma omp atomic
            hits[3]++;
        }
    }
    printf("%d %d %d %d\n", hits[0], hits[1], hits[2], hits[3]);
    return hits[0] == 3 && hits[1] == 2 && hits[2] == 1 && hits[3] == 12 ? 0 : 1;
}

// Constant bounds: the parallel construct and the loop are one runtime call, the body begins with "next"
// (so there is one call for each chunk and one more for each thread).
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[@dynamic].count = 2
//# Expect: parallel_regions[@guided].count = 1
//# Events: parallel_begin{kind=1} = 3
//# Events: loop_begin = 3*3
//# Events: chunk_begin = 2*12 + 8
//# Events: dispatch = 2*12 + 8 + 3*3
//# Events: work_end = 3*3
//# Events: implicit_begin = 3*3
#include <stdio.h>

int main(void)
{
    long sum = 0;
    for (int repeat = 0; repeat < 2; repeat++) {
#pragma omp parallel for schedule(dynamic, 9) // @dynamic
        for (int i = 0; i < 100; i++) {
#pragma omp atomic
            sum += i;
        }
    }
// Guided, at least 5: 118 iterations for 3 threads go as 40 26 18 12 8 5 5 4.
#pragma omp parallel for schedule(guided, 5) // @guided
    for (int i = 0; i < 118; i++) {
#pragma omp atomic
        sum += i;
    }
    printf("%ld\n", sum);
    return 0;
}

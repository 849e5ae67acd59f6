// The program's own calls of omp_get_num_threads and omp_get_thread_num are no loops: alone, in the other order, outside regions,
// far apart.
//# Construct: getters called by the program
//# Events: static_loop = 0
//# Events: loop_begin = 0
//# Events: parallel_begin = 2
#include <omp.h>
#include <stdio.h>

static int threads[3];

int main(void)
{
    int sum = omp_get_thread_num() + omp_get_num_threads();
#pragma omp parallel
    {
        const int self = omp_get_thread_num();
        threads[self] = 1;
#pragma omp barrier
        threads[self] += omp_get_num_threads();
    }
#pragma omp parallel
    {
#pragma omp atomic
        sum += omp_get_thread_num();
    }
    printf("%d %d %d %d\n", sum, threads[0], threads[1], threads[2]);
    return !(sum == 1 + 0 + 1 + 2 && threads[0] == 4 && threads[1] == 4 && threads[2] == 4);
}

// Guided loops of libgomp: a chunk is the rest divided by the number of threads, at least c; the sequence does not depend on who takes it.
// 100 iterations, 3 threads, at least 1: 34 22 15 10 7 4 3 2 1 1 1; at least 10: 34 22 15 10 10 9.
//# Construct: loop, guided
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Events: loop_begin = 2*3
//# Events: work_end = 2*3
//# Events@libgomp: chunk_begin = 11 + 6
//# Events@libgomp: loop_begin{schedule&255=3} = 2*3
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 100;
    int sum = 0;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp parallel for schedule(guided, 10) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    printf("%d\n", sum);
    return sum != 2 * 4950;
}

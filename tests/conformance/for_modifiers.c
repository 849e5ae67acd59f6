// monotonic and nonmonotonic: entry points of their own in libgomp; what OpenMP 5.0 calls nonmonotonic is the default for dynamic.
// 40 in chunks of 8: 5; in chunks of 6: 7; in chunks of 5: 8; runtime (dynamic,10): 4 and 4.
//# Construct: loop, monotonic, nonmonotonic
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Env: OMP_SCHEDULE=dynamic,10
//# Events: loop_begin = 5*3
//# Events: work_end = 5*3
//# Events@libgomp: chunk_begin = 5 + 7 + 8 + 4 + 4
//# Events@libgomp: loop_begin{schedule&1535=1026} = 3
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 40;
    int sum = 0;
#pragma omp parallel for schedule(monotonic : dynamic, 8) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp parallel for schedule(nonmonotonic : dynamic, 6) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp parallel for schedule(monotonic : dynamic, 5) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp parallel for schedule(monotonic : runtime) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp parallel for schedule(nonmonotonic : runtime) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    printf("%d\n", sum);
    return sum != 5 * 780;
}

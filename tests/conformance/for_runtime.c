// schedule(runtime): dynamic,7 from the environment, 15 chunks of 100; then static,8 set by the program, 13 chunks in libgomp (one call for each).
//# Construct: loop, runtime
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Env: OMP_SCHEDULE=dynamic,7
//# Events: loop_begin = 2*3
//# Events: work_end = 2*3
//# Events@libgomp: chunk_begin = 15 + 13
//# Events@libgomp: loop_begin{schedule&255=0} = 2*3
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 100;
    int sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    omp_set_schedule(omp_sched_static, 8);
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    printf("%d\n", sum);
    return sum != 2 * 4950;
}

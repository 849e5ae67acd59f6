// Combined constructs with the loop first in line: region, loop and what it is made of count as if written apart.
// parallel for simd dynamic: 60/10 = 6 chunks; parallel sections: 2; parallel master taskloop: 4 tasks, 1 taskloop.
//# Construct: combined constructs
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Unseen@libomp: libomp reports the construct, not which section a thread runs; it runs the sections of GCC's objects as a dynamic loop and reports that
//# Events: parallel_begin = 4
//# Events: implicit_begin = 4*3
//# Events@libgomp: chunk_begin = 6
//# Events@libgomp: section_begin = 2
//# Events: taskloop_begin = 1 + 1
//# Events: taskloop_task + task_create = 4 + 4
//# Events: task_begin = 4 + 4
//# Events@clang: masked_begin = 2
//# Events@gcc: masked_begin = 0
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 60;
    int sum = 0;
#pragma omp parallel for simd schedule(dynamic, 10) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp parallel sections reduction(+ : sum)
    {
#pragma omp section
        sum += 1;
#pragma omp section
        sum += 2;
    }
#pragma omp parallel master taskloop num_tasks(4) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
#pragma omp parallel master taskloop simd num_tasks(4) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    printf("%d\n", sum);
    return sum != 3 * 1770 + 3;
}

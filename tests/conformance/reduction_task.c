// Task reductions of a region, a loop and sections, 3 threads: a task of each thread in the region (3), one for each of the 12 iterations, one for each of
// the 2 sections, all of them participating. The run-time library reads and writes the first words of region and task data.
// 12 iterations in chunks of 4: 3. (For a static schedule GCC calls GOMP_loop_start for memory alone, and shares out inline.)
//# Construct: reduction(task)
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Unseen@libomp: libomp reports the construct, not which section a thread runs; it runs the sections of GCC's objects as a dynamic loop and reports that
//# Events: parallel_begin = 3
//# Events: implicit_begin = 3*3
//# Events: task_create = 3 + 12 + 2
//# Events: task_begin = 3 + 12 + 2
//# Events@libgomp: loop_begin = 3
//# Events@libgomp: chunk_begin = 3
//# Events@libgomp: sections_begin = 3
//# Events@libgomp: section_begin = 2
//# Edges: 0
#include <stdio.h>

int main(void)
{
    int region = 0, loop = 0, sections = 0;
#pragma omp parallel reduction(task, + : region)
    {
#pragma omp task in_reduction(+ : region)
        region += 2;
        region += 1;
    }
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 4) reduction(task, + : loop)
        for (int i = 0; i < 12; i++) {
#pragma omp task in_reduction(+ : loop) firstprivate(i)
            loop += i;
        }
    }
#pragma omp parallel
    {
#pragma omp sections reduction(task, + : sections)
        {
#pragma omp section
            {
#pragma omp task in_reduction(+ : sections)
                sections += 10;
            }
#pragma omp section
            {
#pragma omp task in_reduction(+ : sections)
                sections += 20;
            }
        }
    }
    printf("%d %d %d\n", region, loop, sections);
    return !(region == 9 && loop == 66 && sections == 30);
}

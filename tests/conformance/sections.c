// sections: each block is handed out once; every thread meets the construct. clang makes a static loop over the sections' numbers, which libomp
// reports as sections; a section of its own is not reported by libomp 14. libomp takes GCC's calls for a dynamic loop.
//# Construct: sections
//# Unseen@libomp: libomp reports the construct, not which section a thread runs; it runs the sections of GCC's objects as a dynamic loop and reports that
//# Events: parallel_begin = 2
//# Events@libgomp: loop_begin = 0
//# Events@libgomp: sections_begin = 2*3
//# Events@libgomp: sections_begin{count=4} = 3
//# Events@libgomp: section_begin = 4 + 2
//# Events@libgomp: section_begin{number=4} = 1
//# Events@clang: sections_begin = 2*3
//# Events@gcc-libomp: sections_begin + loop_begin = 2*3
//# Events: work_end = 2*3
#include <stdio.h>

static int hits[6];

static void hit(int index)
{
#pragma omp atomic
    hits[index]++;
}

int main(void)
{
    int after = 0, bad = 0;
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            hit(0);
#pragma omp section
            hit(1);
#pragma omp section
            hit(2);
#pragma omp section
            hit(3);
        }
#pragma omp atomic
        after++;
    }
#pragma omp parallel
    {
#pragma omp sections nowait
        {
            hit(4);
#pragma omp section
            hit(5);
        }
#pragma omp atomic
        after++;
    }
    for (int i = 0; i < 6; i++)
        bad += hits[i] != 1;
    printf("%d %d\n", after, bad);
    return !(after == 6 && bad == 0);
}

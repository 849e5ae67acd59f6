// parallel sections: GCC calls the run-time library once for both.
//# Construct: sections; combined constructs
//# Unseen@libomp: libomp reports the construct, not which section a thread runs; it runs the sections of GCC's objects as a dynamic loop and reports that
//# Events: parallel_begin = 1
//# Events: implicit_begin = 3
//# Events@libgomp: parallel_begin{kind=2} = 1
//# Events@libgomp: sections_begin = 3
//# Events@libgomp: section_begin = 4
//# Events@clang: sections_begin = 3
//# Events: work_end = 3
#include <stdio.h>

int main(void)
{
    int a = 0, b = 0, c = 0, d = 0;
#pragma omp parallel sections
    {
#pragma omp section
        a = 1;
#pragma omp section
        b = 2;
#pragma omp section
        c = 3;
#pragma omp section
        d = 4;
    }
    printf("%d %d %d %d\n", a, b, c, d);
    return a * 1000 + b * 100 + c * 10 + d != 1234;
}

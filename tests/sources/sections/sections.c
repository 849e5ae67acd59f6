// Sections: each is handed out once; every thread enters and leaves the construct.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[*].count = 3
//# Events: sections_begin = 3 + 3 + 3
//# Events: section_begin = 5 + 4 + 1
//# Events: section_begin{number=5} = 1
//# Events: work_end = 3 + 3 + 3
#include <stdio.h>

static int hits[10];

static void hit(int index)
{
#pragma omp atomic
    hits[index]++;
}

int main(void)
{
    int after = 0;
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
#pragma omp section
            hit(4);
        }
#pragma omp atomic
        after++;
    }
#pragma omp parallel sections
    {
#pragma omp section
        hit(5);
#pragma omp section
        hit(6);
#pragma omp section
        hit(7);
#pragma omp section
        hit(8);
    }
#pragma omp parallel
    {
#pragma omp sections nowait
        {
            hit(9);
        }
#pragma omp atomic
        after++;
    }
    for (int i = 0; i < 10; i++)
        printf("%d ", hits[i]);
    printf("%d\n", after);
    return 0;
}

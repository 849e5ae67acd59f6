// Iterators: one clause, as many entries as the iterator has steps. One writer of 8 elements, 8 tasks each in its element, one reader of every second.
// Edges: 8 from the writer; the reader follows the 4 tasks of its elements.
//# Construct: depend(iterator)
//# Env: OMP_NUM_THREADS=2
//# Flags@clang: -fopenmp-version=50
//# Events: task_create = 1 + 8 + 1
//# Events: task_begin = 1 + 8 + 1
//# Entries: task_create{kind=2} = 8 + 8
//# Entries: task_create{kind=1} = 4
//# Edges: 8 + 4
#include <stdio.h>

static int a[8], sum;

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(iterator(i = 0 : 8), out : a[i])
        for (int i = 0; i < 8; i++)
            a[i] = i;
        for (int i = 0; i < 8; i++) {
#pragma omp task depend(inout : a[i]) firstprivate(i)
            a[i] *= 10;
        }
#pragma omp task depend(iterator(i = 0 : 8 : 2), in : a[i])
        for (int i = 0; i < 8; i += 2)
            sum += a[i];
    }
    printf("%d\n", sum);
    return sum != 120;
}

// mutexinoutset: 4 tasks that exclude one another between a writer and a reader: 4 + 4 edges; then two sets of 2 and 3 with a writer in between:
// the reader precedes the set of 2 (2 edges), 2 to the writer, 3 from it.
//# Construct: depend(mutexinoutset)
//# Env: OMP_NUM_THREADS=2
//# Flags@clang: -fopenmp-version=50
//# Events: task_create = 1 + 4 + 1 + 2 + 1 + 3
//# Events: task_begin = 1 + 4 + 1 + 2 + 1 + 3
//# Entries: task_create{kind=4} = 4 + 2 + 3
//# Edges: 4 + 4 + 2 + 2 + 3
#include <stdio.h>

static int x, middle;

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 100;
        for (int i = 0; i < 4; i++) {
#pragma omp task depend(mutexinoutset : x)
            x++;
        }
#pragma omp task depend(in : x)
        middle = x;
        for (int i = 0; i < 2; i++) {
#pragma omp task depend(mutexinoutset : x)
            x++;
        }
#pragma omp task depend(inout : x)
        x *= 2;
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(mutexinoutset : x)
            x++;
        }
    }
    printf("%d %d\n", middle, x);
    return !(middle == 104 && x == 215);
}

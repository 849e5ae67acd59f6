// taskwait with depend: an empty task that the thread waits for, 2 of them. 1 out x, 2 in x, W1 inout x, 3 in x, 4 out y, W2 in x, in y.
// 1->2 2->W1 W1->3 (x), W1->W2 (the reader W2 follows the last writer of x), 4->W2. clang 14 and libomp 14 do the same.
//# Construct: taskwait depend
//# Env: OMP_NUM_THREADS=2
//# Flags@clang: -fopenmp-version=50
//# Events: task_create = 4
//# Events: task_begin = 4
//# Events: taskwait_depend = 2
//# Entries: taskwait_depend{kind=2} = 1
//# Entries: taskwait_depend{kind=1} = 2
//# Events: sync_begin{kind=4} = 2
//# Events: sync_end{kind=4} = 2
//# Edges: 1 + 1 + 1 + 1 + 1
#include <stdio.h>

static int x, y, bad;

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(in : x)
        bad += x != 1;
#pragma omp taskwait depend(inout : x)
        x++;
#pragma omp task depend(in : x)
        bad += x != 2;
#pragma omp task depend(out : y)
        y = 3;
#pragma omp taskwait depend(in : x, y)
        bad += y != 3;
    }
    printf("%d %d %d\n", x, y, bad);
    return bad;
}

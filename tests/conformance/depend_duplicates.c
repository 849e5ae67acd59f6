// The same address several times in one task: equal kinds are one entry, in and out together are out; overlapping but different start
// addresses are different. 1: out x x, 2: in x x, 3: in x inout x, 4: out x as another task, of another parent: no edge to it.
// 1->2, 2->3; y[0] and y[1]: none; 5 tasks and the child.
//# Construct: depend(in, out, inout)
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 3 + 2 + 2
//# Events: task_begin = 3 + 2 + 2
//# Edges: 2
#include <stdio.h>

static int x, y[2];

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x, x)
        x = 1;
#pragma omp task depend(in : x, x)
        if (x != 1)
            x = -100;
#pragma omp task depend(in : x) depend(inout : x)
        x += 1;
#pragma omp task depend(out : y[0])
        y[0] = 1;
#pragma omp task depend(out : y[1])
        y[1] = 2;
#pragma omp taskwait
#pragma omp task
        {
#pragma omp task depend(out : x)
            x += 40;
        }
    }
    printf("%d %d %d\n", x, y[0], y[1]);
    return x != 42;
}

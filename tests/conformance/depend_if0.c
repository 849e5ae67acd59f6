// A task with a false if clause and dependences waits for its predecessors and runs at once; so does a target or final one. It is a node like the others:
// out -> if(0) in -> out: 2 edges, and an if(0) writer between: out -> if(0) inout -> in: 2.
//# Construct: depend with if(0)
//# Differs@libomp: waits: libomp waits for the dependences by a taskwait of its own, then runs the task
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 6
//# Events: task_begin = 6
//# Edges: 2 + 2
#include <stdio.h>

static int x, y, bad;

int main(void)
{
    int off = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(in : x) if (off)
        bad += x != 1;
#pragma omp task depend(out : x)
        x = 2;
#pragma omp task depend(out : y)
        y = 1;
#pragma omp task depend(inout : y) if (off)
        y += 1;
#pragma omp task depend(in : y)
        bad += y != 2;
    }
    printf("%d %d %d\n", x, y, bad);
    return !(x == 2 && y == 2 && bad == 0);
}

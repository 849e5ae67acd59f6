// target with nowait and with depend: tasks of their own, ordered with their sibling: task out x -> target in/out x -> task in x: 2 edges; a
// target nowait without dependences beside.
//# Construct: target nowait, depend
//# Unseen@clang: clang without offloading makes plain tasks of target constructs with nowait or depend, run by threads that libomp keeps for them
//# Differs@clang: waits: libomp waits for the dependences by a taskwait of its own, then runs the task
//# SkipCompiler: gcc-libomp libomp has none of the entry points for device constructs that GCC 5 and later call (GOMP_target_ext …)
//# Env: OMP_NUM_THREADS=2
//# Events@gcc: target_begin{kind=0} = 2
//# Events@gcc: target_begin{kind=0,flags&1=1} = 1
//# Events: task_create = 2 + 2
//# Events@gcc: task_create{flags&0x10000=0x10000} = 2
//# Edges: 2
#include <stdio.h>

static int x, y, seen;

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp target map(tofrom : x) depend(inout : x)
        x *= 10;
#pragma omp task depend(in : x)
        seen = x;
#pragma omp target map(tofrom : y) nowait
        y = 5;
    }
    printf("%d %d\n", seen, y);
    return !(seen == 10 && y == 5);
}

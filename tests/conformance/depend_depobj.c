// Depend objects: made, updated to another kind, destroyed. in by object, then inout by the same object after the update.
// out -> 2 readers (2 edges), readers -> inout (2), inout -> inout (1).
//# Construct: depend(depobj)
//# Env: OMP_NUM_THREADS=2
//# Flags@clang: -fopenmp-version=50
//# Events: task_create = 1 + 2 + 1 + 1
//# Events: task_begin = 1 + 2 + 1 + 1
//# Entries: task_create{kind=1} = 2
//# Entries: task_create{kind=2} = 3
//# Edges: 2 + 2 + 1
#include <omp.h>
#include <stdio.h>

static int x, sum;

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
        omp_depend_t object;
#pragma omp depobj(object) depend(in : x)
#pragma omp task depend(out : x)
        x = 5;
        for (int i = 0; i < 2; i++) {
#pragma omp task depend(depobj : object)
            {
#pragma omp atomic
                sum += x;
            }
        }
#pragma omp depobj(object) update(inout)
#pragma omp task depend(depobj : object)
        x *= 2;
#pragma omp task depend(depobj : object)
        x *= 3;
#pragma omp taskwait
#pragma omp depobj(object) destroy
    }
    printf("%d %d\n", x, sum);
    return !(x == 30 && sum == 10);
}

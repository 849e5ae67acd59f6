// detach: 3 tasks whose event is fulfilled by another task, each pair created in turn; the taskwait returns when all are complete.
//# Construct: detach, omp_fulfill_event
//# Env: OMP_NUM_THREADS=2
//# Flags@clang: -fopenmp-version=50
//# SkipCompiler: gcc-libomp libomp 14 ends with a fault on GCC's detach, also without us
//# Events: task_create = 3 + 3
//# Events: task_begin = 3 + 3
//# Events: task_event >= 3
//# Events: task_fulfill = 3
//# Events@gcc: task_create{flags&0x2000=0x2000} = 3
//# Events: sync_begin{kind=3} = 1
//# Edges: 0
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int bodies = 0, fulfilled = 0, seen = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 3; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(bodies)
            {
#pragma omp atomic
                bodies++;
            }
#pragma omp task firstprivate(event) shared(fulfilled)
            {
#pragma omp atomic
                fulfilled++;
                omp_fulfill_event(event);
            }
        }
#pragma omp taskwait
        seen = bodies * 10 + fulfilled;
    }
    printf("%d\n", seen);
    return seen != 33;
}

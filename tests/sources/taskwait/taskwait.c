// taskwait, taskgroup, taskyield: one wait each, tasks inside.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 5*3 + 4*2
//# Expect: tasks.executed = 5*3 + 4*2
//# Expect: tasks.edges = 0
//# Events: sync_begin{kind=3} = 5
//# Events: sync_end{kind=3} = 5
//# Events: taskgroup_begin = 4
//# Events: sync_begin{kind=5} = 4
//# Events: sync_end{kind=5} = 4
//# Events: sync_begin{kind=6} = 4*2
#include <stdio.h>

int main(void)
{
    int done = 0, checks = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < 3; k++) {
#pragma omp task shared(done)
                {
#pragma omp atomic
                    done++;
                }
            }
#pragma omp taskwait
            checks += done == 3 * (i + 1);
        }
        for (int i = 0; i < 4; i++) {
#pragma omp taskgroup
            {
                for (int k = 0; k < 2; k++) {
#pragma omp task shared(done)
                    {
#pragma omp taskyield
#pragma omp atomic
                        done++;
                    }
                }
            }
            checks += done == 15 + 2 * (i + 1);
        }
    }
    printf("%d %d\n", done, checks);
    return checks == 9 ? 0 : 1;
}

// taskgroup: 4 groups, each waits for 2 children and their 1 child each; one group inside another.
//# Construct: taskgroup
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 4*2*2 + 2
//# Events: task_begin = 4*2*2 + 2
//# Events: taskgroup_begin = 4 + 2
//# Events: sync_begin{kind=5} = 4 + 2
//# Events: sync_end{kind=5} = 4 + 2
//# Edges: 0
#include <stdio.h>

static int count;

static void add(void)
{
#pragma omp atomic
    count++;
}

int main(void)
{
    int bad = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 4; i++) {
#pragma omp taskgroup
            for (int k = 0; k < 2; k++) {
#pragma omp task
                {
                    add();
#pragma omp task
                    add();
                }
            }
            bad += count != 4 * (i + 1);
        }
#pragma omp taskgroup
        {
#pragma omp taskgroup
            {
#pragma omp task
                add();
            }
            bad += count != 17;
#pragma omp task
            add();
        }
        bad += count != 18;
    }
    printf("%d %d\n", count, bad);
    return bad;
}

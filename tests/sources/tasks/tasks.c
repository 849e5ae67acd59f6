// Tasks: deferred, if(0), final with a child, untied, mergeable, with priority, outside any region.
// Undeferred are those under if(0), the children of final tasks and those without a team.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 10 + 5 + 4 + 4 + 3 + 6
//# Expect: tasks.executed = 10 + 5 + 4 + 4 + 3 + 6
//# Expect: tasks.undeferred = 5 + 4 + 3
//# Expect: tasks.edges = 0
//# Expect: task_functions[@deferred].executed = 10
//# Expect: task_functions[@immediate].executed = 5
//# Expect: task_functions[@final].executed = 4
//# Expect: task_functions[@child].executed = 4
//# Expect: task_functions[@alone].executed = 3
//# Events: task_create = 10 + 5 + 4 + 4 + 3 + 6
//# Events: task_created = 10 + 5 + 4 + 4 + 3 + 6
//# Events: task_begin = 10 + 5 + 4 + 4 + 3 + 6
//# Events: task_end = 10 + 5 + 4 + 4 + 3 + 6
#include <stdio.h>

static int done;

static void count(int weight)
{
#pragma omp atomic
    done += weight;
}

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i) // @deferred
            count(1 + i);
        }
        for (int i = 0; i < 5; i++) {
#pragma omp task if (0) firstprivate(i) // @immediate
            count(100 + i);
        }
        for (int i = 0; i < 4; i++) {
#pragma omp task final(1) // @final
            {
#pragma omp task // @child
                count(1000);
            }
        }
        for (int i = 0; i < 6; i++) {
#pragma omp task untied mergeable priority(i) // @extras
            count(10000);
        }
    }
    for (int i = 0; i < 3; i++) {
#pragma omp task // @alone
        count(100000);
    }
    printf("%d\n", done);
    return done == 55 + 510 + 4000 + 60000 + 300000 ? 0 : 1;
}

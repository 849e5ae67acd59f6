// cancel taskgroup: one thread of 2 makes 5 tasks and a sixth that runs at once and cancels the group, while the other thread is kept away; the 5 are
// discarded, each was created. 2 more, created after it, are never queued.
//# Construct: cancel taskgroup
//# Env: OMP_CANCELLATION=true OMP_NUM_THREADS=2
//# Events: parallel_begin = 1
//# Events: task_create = 5 + 1 + 2
//# Events: task_begin = 1
//# Events: cancel{kind=8,flags&3=3} = 1
//# Events: taskgroup_begin = 1
//# Events: sync_begin{kind=5} = 1
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int done = 0, off = 0, open = 0;
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
#pragma omp taskgroup
            {
                for (int i = 0; i < 5; i++) {
#pragma omp task
                    {
#pragma omp atomic
                        done++;
                    }
                }
#pragma omp task if (off)
                {
#pragma omp cancel taskgroup
#pragma omp atomic
                    done += 100;
                }
                for (int i = 0; i < 2; i++) {
#pragma omp task
                    {
#pragma omp atomic
                        done++;
                    }
                }
            }
#pragma omp atomic write
            open = 1;
        } else {
            int seen = 0;
            while (!seen) {
                usleep(1000);
#pragma omp atomic read
                seen = open;
            }
        }
    }
    printf("%d\n", done);
    return done;
}

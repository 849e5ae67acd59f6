// cancel parallel by one thread, cancellation points on the other two, which spin until they see it: 1 cancel, 2 points that let go.
// A second region with a false if clause: the construct counts, and cancels nothing.
//# Construct: cancel parallel
//# Env: OMP_CANCELLATION=true
//# Events: parallel_begin = 2
//# Events: implicit_begin = 2*3
//# Events: cancel{kind=1,flags&3=3} = 1
//# Events: cancel{kind=1,flags&3=2} = 2
//# Events: cancel{kind=1,flags&3=1} = 0
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int after = 0, whole = 0, off = 0;
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
        } else {
            for (;;) {
#pragma omp cancellation point parallel
                usleep(1000);
            }
        }
#pragma omp atomic
        after++;
    }
#pragma omp parallel
    {
#pragma omp cancel parallel if (off)
#pragma omp atomic
        whole++;
    }
    printf("%d %d\n", after, whole);
    return !(after == 0 && whole == 3);
}

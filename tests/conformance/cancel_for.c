// cancel for: every thread that gets a chunk cancels or finds the loop cancelled. One thread takes the first iteration and cancels; the others
// spin at their cancellation points (one iteration each in flight). 3 iterations begin at most, each once.
//# Construct: cancel for
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Env: OMP_CANCELLATION=true
//# Events: parallel_begin = 1
//# Events: implicit_begin = 3
//# Events: loop_begin = 3
//# Events: cancel{kind=2,flags&3=3} = 1
//# Events: cancel{kind=2,flags&3=2} <= 2
//# Events@libgomp: chunk_begin <= 3
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 100;
    int after = 0, done = 0;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < n; i++) {
            if (i == 0) {
#pragma omp cancel for
            }
            for (;;) {
#pragma omp cancellation point for
                usleep(1000);
            }
#pragma omp atomic
            done++;
        }
#pragma omp atomic
        after++;
    }
    printf("%d %d\n", after, done);
    return !(after == 3 && done == 0);
}

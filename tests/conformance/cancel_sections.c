// cancel sections: the first of 3 sections cancels, the others wait at a cancellation point until they see it, if they begin at all.
//# Construct: cancel sections
//# Unseen@libomp: libomp reports the construct, not which section a thread runs; it runs the sections of GCC's objects as a dynamic loop and reports that
//# Env: OMP_CANCELLATION=true
//# Events: parallel_begin = 1
//# Events: cancel{kind=4,flags&3=3} = 1
//# Events: cancel{kind=4,flags&3=2} <= 2
//# Events@libgomp: sections_begin = 3
//# Events@libgomp: section_begin <= 3
#include <stdio.h>
#include <unistd.h>

static int done;

int main(void)
{
    int after = 0;
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
                done = 1;
            }
#pragma omp section
            {
                for (;;) {
#pragma omp cancellation point sections
                    usleep(1000);
                }
                done = 2;
            }
#pragma omp section
            {
                for (;;) {
#pragma omp cancellation point sections
                    usleep(1000);
                }
                done = 3;
            }
        }
#pragma omp atomic
        after++;
    }
    printf("%d %d\n", after, done);
    return !(after == 3 && done == 0);
}

// More events than the buffer holds: packets follow each other, nothing is lost, the flushes show.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false INSTR_BUFFER=16384
//# Expect: threads[*].discarded = 0
//# Events: user_event = 2*5000
//# Events: mutex_acquire = 2*500
//# Events: mutex_released = 2*500
//# Events: flush >= 4
#include <instr/instr.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;
#pragma omp parallel
    {
        for (int i = 1; i <= 5000; i++)
            instr_event(9, (unsigned)i);
        for (int i = 0; i < 500; i++) {
#pragma omp critical
            sum++;
        }
    }
    printf("%ld\n", sum);
    return 0;
}

// exit() from the middle of a region, on the thread that began it: status and output as without us, streams complete.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Exit: 3
//# Open:
//# Events: user_event = 3
//# Events: parallel_begin = 1
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
#pragma omp parallel
    {
        instr_event(5, 1);
#pragma omp barrier
#pragma omp master
        {
            printf("leaving\n");
            exit(3);
        }
#pragma omp barrier
    }
    return 0;
}

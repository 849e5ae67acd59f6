// INSTR_ENABLED=0: the program runs as if it had never been instrumented, and no trace appears.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false INSTR_ENABLED=0
//# NoTrace:
#include <instr/instr.h>
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel
    {
        instr_event(5, 1);
#pragma omp single
        {
#pragma omp task shared(sum)
            sum += 5;
        }
    }
    printf("%d\n", sum);
    return 0;
}

// Cancellation is not active (the default): the constructs do nothing. libgomp is called all the same, 3 times for the region.
//# Construct: cancellation switched off
//# Unseen@libomp: libomp reports cancellation constructs only while cancellation is switched on
//# Events: parallel_begin = 1
//# Events@libgomp: cancel{kind=1,flags=1} = 3
//# Events: cancel{flags&2=2} = 0
#include <stdio.h>

int main(void)
{
    int after = 0;
#pragma omp parallel
    {
#pragma omp cancel parallel
#pragma omp atomic
        after++;
    }
    printf("%d\n", after);
    return after != 3;
}

// Three threads open regions of 2 one after the other, 40 turns each: a library hands a team that one thread has just left to another one, at times
// before the first has been told that its region ended. Regions 1 + 3*40.
//# Construct: nested regions
//# Env: OMP_MAX_ACTIVE_LEVELS=2
//# Events: parallel_begin = 1 + 3*40
//# Events: parallel_end = 1 + 3*40
//# Events: implicit_begin = 3 + 3*40*2
//# Events: implicit_end = 3 + 3*40*2
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel num_threads(3)
    for (int turn = 0; turn < 40; turn++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp atomic
            sum++;
        }
    }
    printf("%d\n", sum);
    return sum != 3 * 40 * 2;
}

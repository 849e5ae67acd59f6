// A taskloop outside a parallel region: its tasks run at once, in one block. Were they given copies, libgomp would keep all 100,000 on the
// stack.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.executed = 100000
//# Events: taskloop_task = 100000
//# Events: task_begin = 100000
//# Events: task_end = 100000
#include <stdio.h>

int main(void)
{
    long long sum = 0;
#pragma omp taskloop grainsize(1) shared(sum)
    for (int i = 0; i < 100000; i++)
        sum += i;
    printf("%lld\n", sum);
    return sum != 4999950000LL;
}

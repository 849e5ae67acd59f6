// A taskloop outside a parallel region: its tasks run at once, in one block. Were they given copies, libgomp would keep all 60,000 on the
// stack.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.executed = 60000
//# Events: taskloop_task = 60000
//# Events: task_begin = 60000
//# Events: task_end = 60000
#include <stdio.h>

int main(void)
{
    long long sum = 0;
#pragma omp taskloop grainsize(1) shared(sum)
    for (int i = 0; i < 60000; i++)
        sum += i;
    printf("%lld\n", sum);
    return sum != 1799970000LL;
}

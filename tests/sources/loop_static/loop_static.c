// Static loops are compiled inline: no runtime call, so nothing but the region can be seen. Nothing must be invented.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[*].count = 2
//# Expect: loops.len = 0
//# Events: loop_begin = 0
//# Events: chunk_begin = 0
//# Events: sync_begin{kind=1} = 3
#include <stdio.h>

int main(void)
{
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    long other = 0;
#pragma omp parallel
    {
        // The barrier of an inlined loop is an ordinary GOMP_barrier.
#pragma omp for schedule(static, 3)
        for (int i = 0; i < 100; i++) {
#pragma omp atomic
            other += i;
        }
#pragma omp atomic
        sum++;
    }
    printf("%ld %ld\n", sum, other);
    return 0;
}

// Device constructs on the host fallback (no device here): target 3 times, target data with its end, update, enter and exit data.
// clang without offloading calls the region's function directly: nothing to see (the region is there so that it leaves a trace).
//# Construct: target; target data, update, enter and exit data
//# Unseen@clang: clang without offloading calls the function of a target region directly: nothing shows
//# SkipCompiler: gcc-libomp libomp has none of the entry points for device constructs that GCC 5 and later call (GOMP_target_ext …)
//# Events: parallel_begin = 1
//# Events@gcc: target_begin{kind=0} = 3
//# Events@gcc: target_begin{kind=1} = 1
//# Events@gcc: target_begin{kind=2} = 1
//# Events@gcc: target_begin{kind=3} = 1
//# Events@gcc: target_begin{kind=4} = 2
//# Events@gcc: target_begin{kind=4,flags&2=2} = 1
//# Events@gcc: target_end = 3 + 1 + 1 + 1 + 2
//# Events@clang: target_begin = 0
#include <stdio.h>

static int v[8];

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
#pragma omp target map(tofrom : sum)
        sum++;
    }
#pragma omp target enter data map(to : v)
#pragma omp target data map(tofrom : sum)
    {
        v[0] = 4;
#pragma omp target update to(v)
        sum += v[0];
    }
#pragma omp target exit data map(from : v)
#pragma omp parallel
    {
#pragma omp atomic
        sum++;
    }
    printf("%d\n", sum);
    return sum != 10;
}

// threadprivate with copyin: GCC puts a barrier behind the copying; the values stay from region to region.
//# Events: parallel_begin = 2
//# Events: implicit_begin = 2*3
//# Events: sync_begin{kind=1} + sync_begin{kind=2} = 3
#include <omp.h>
#include <stdio.h>

static int mine;
#pragma omp threadprivate(mine)

int main(void)
{
    int sum = 0;
    mine = 10;
#pragma omp parallel copyin(mine)
    mine += omp_get_thread_num();
#pragma omp parallel
    {
#pragma omp atomic
        sum += mine;
    }
    printf("%d\n", sum);
    return sum != 33;
}

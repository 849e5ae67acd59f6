// Parallel regions: simple, serialized by if(0), with fewer threads, nested.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_MAX_ACTIVE_LEVELS=2
//# Expect: parallel_regions[@simple].count = 5
//# Expect: parallel_regions[@serial].count = 2
//# Expect: parallel_regions[@pair].count = 4
//# Expect: parallel_regions[@outer].count = 2
//# Expect: parallel_regions[@inner].count = 2*3
//# Expect: parallel_regions[*].count = 5 + 2 + 4 + 2 + 2*3
//# Expect: tasks.created = 0
//# Events: parallel_begin = 5 + 2 + 4 + 2 + 2*3
//# Events: parallel_end = 5 + 2 + 4 + 2 + 2*3
//# Events: implicit_begin = 5*3 + 2*1 + 4*2 + 2*3 + 2*3*2
//# Events: implicit_end = 5*3 + 2*1 + 4*2 + 2*3 + 2*3*2
//# Events: implicit_begin{team_size=1} = 2
//# Events: implicit_begin{team_size=3,thread_num=0} = 5 + 2
//# Events: implicit_begin{team_size=0,thread_num=2} = 5 + 2
//# Comms: all = 0
#include <stdio.h>

static void simple(int *count)
{
#pragma omp parallel // @simple
    {
#pragma omp atomic
        *count += 1;
    }
}

int main(void)
{
    int count = 0, serial = 0, pair = 0, inner = 0;
    for (int i = 0; i < 5; i++)
        simple(&count);
    for (int i = 0; i < 2; i++) {
#pragma omp parallel if (0) // @serial
        serial++;
    }
    for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(2) // @pair
        {
#pragma omp atomic
            pair++;
        }
    }
    for (int i = 0; i < 2; i++) {
#pragma omp parallel // @outer
        {
#pragma omp parallel num_threads(2) // @inner
            {
#pragma omp atomic
                inner++;
            }
        }
    }
    printf("%d %d %d %d\n", count, serial, pair, inner);
    return count == 15 && serial == 2 && pair == 8 && inner == 12 ? 0 : 1;
}

// Tasks and regions without data: the runtime passes NULL, and NULL must arrive.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 12
//# Expect: tasks.executed = 12
//# Expect: parallel_regions[*].count = 3
#include <stdio.h>

static int done;

static void batch(void)
{
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
#pragma omp atomic
            done++;
        }
    }
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
#pragma omp parallel
#pragma omp master
        batch();
    }
    printf("%d\n", done);
    return done == 12 ? 0 : 1;
}

// Host teams and scopes: constructs that are described but have no probe of their own; they must get through unchanged.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
#include <stdio.h>

int main(void)
{
    int threads = 0;
#pragma omp teams num_teams(3) thread_limit(2)
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp atomic
            threads++;
        }
    }
    int scoped = 0;
#pragma omp parallel
    {
#pragma omp scope reduction(+ : scoped)
        scoped += 1;
    }
    printf("%d %d\n", threads, scoped);
    return 0;
}

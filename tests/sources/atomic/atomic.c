// Atomics on types without a lock-free instruction go through the runtime: long double everywhere, all types on SPARC V8.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Events: mutex_acquire{kind=3} >= 3*10
//# Events@x86_64-linux,x86_64-linux-static,sparc64-linux: mutex_acquire{kind=3} = 3*10
//# Events@sparc-linux: mutex_acquire{kind=3} = 3*10 + 3*7 + 3
//# Events: mutex_failed = 0
#include <stdio.h>

int main(void)
{
    long double extended = 0;
    double ordinary = 0;
    int small = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 10; i++) {
#pragma omp atomic
            extended += 1;
        }
        for (int i = 0; i < 7; i++) {
#pragma omp atomic
            ordinary += 1;
        }
#pragma omp atomic
        small++;
    }
    printf("%.0Lf %.0f %d\n", extended, ordinary, small);
    return 0;
}

// critical, two named ones, nested in one another.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: criticals[alpha].count = 3*20
//# Expect: criticals[beta].count = 3*20
//# Expect: criticals[critical].count = 3*10
//# Events: mutex_acquire{kind=1} = 3*10
//# Events: mutex_acquired{kind=1} = 3*10
//# Events: mutex_released{kind=1} = 3*10
//# Events: mutex_acquire{kind=2} = 2*3*20
//# Events: mutex_acquired{kind=2} = 2*3*20
//# Events: mutex_released{kind=2} = 2*3*20
//# Events: mutex_failed = 0
#include <stdio.h>

int main(void)
{
    int plain = 0, alpha = 0, beta = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 10; i++) {
#pragma omp critical
            plain++;
        }
        for (int i = 0; i < 20; i++) {
#pragma omp critical(alpha)
            {
                alpha++;
#pragma omp critical(beta)
                beta++;
            }
        }
    }
    printf("%d %d %d\n", plain, alpha, beta);
    return 0;
}

// critical without a name, with names, with a hint, nested. libomp has one kind for named and unnamed.
//# Construct: critical
//# Unseen@libomp: libomp reports named and unnamed critical sections alike, each by the address of its lock: no names
//# Events: mutex_acquire{kind=1} + mutex_acquire{kind=2} = 3*(10 + 20 + 20 + 5)
//# Events: mutex_acquired{kind=1} + mutex_acquired{kind=2} = 3*(10 + 20 + 20 + 5)
//# Events: mutex_released{kind=1} + mutex_released{kind=2} = 3*(10 + 20 + 20 + 5)
//# Events@libgomp: mutex_acquired{kind=1} = 3*10
//# Events@libgomp: mutex_acquired{kind=2} = 3*(20 + 20 + 5)
//# Events: mutex_failed = 0
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int plain = 0, outer = 0, inner = 0, hinted = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 10; i++) {
#pragma omp critical
            plain++;
        }
        for (int i = 0; i < 20; i++) {
#pragma omp critical(alpha)
            {
                outer++;
#pragma omp critical(beta)
                inner++;
            }
        }
        for (int i = 0; i < 5; i++) {
#pragma omp critical(gamma) hint(omp_sync_hint_contended)
            hinted++;
        }
    }
    printf("%d %d %d %d\n", plain, outer, inner, hinted);
    return !(plain == 30 && outer == 60 && inner == 60 && hinted == 15);
}

// Locks and nestable locks, set and tested.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Events: mutex_acquire{kind=5} = 3*20 + 2
//# Events: mutex_acquired{kind=5} = 3*20 + 1
//# Events: mutex_released{kind=5} = 3*20 + 1
//# Events: mutex_failed{kind=5} = 1
//# Events: mutex_acquire{kind=6} = 3*5*3
//# Events: mutex_acquired{kind=6} = 3*5*3
//# Events: mutex_released{kind=6} = 3*5*3
//# Events: mutex_failed{kind=6} = 0
#include <omp.h>
#include <stdio.h>

int main(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int plain = 0, nested = 0, depth_sum = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel
    {
        for (int i = 0; i < 20; i++) {
            omp_set_lock(&lock);
            plain++;
            omp_unset_lock(&lock);
        }
        for (int i = 0; i < 5; i++) {
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            depth_sum += omp_test_nest_lock(&nest);
            nested++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
        }
    }
    int first = omp_test_lock(&lock), second = omp_test_lock(&lock);
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%d %d %d %d %d\n", plain, nested, depth_sum, first != 0, second != 0);
    return plain == 60 && nested == 15 && depth_sum == 45 ? 0 : 1;
}

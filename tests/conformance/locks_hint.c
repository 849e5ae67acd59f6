// Locks made with a hint: 3 x 4 and 3 x 3.
//# Construct: locks with hints
//# SkipCompiler: gcc libgomp 12 has no locks with hints
//# Events: mutex_acquire{kind=5} = 3*4
//# Events: mutex_acquired{kind=5} = 3*4
//# Events: mutex_released{kind=5} = 3*4
//# Events: mutex_acquired{kind=6} = 3*3
//# Events: mutex_released{kind=6} = 3*3
#include <omp.h>
#include <stdio.h>

int main(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int total = 0, nested = 0;
    omp_init_lock_with_hint(&lock, omp_sync_hint_contended);
    omp_init_nest_lock_with_hint(&nest, omp_sync_hint_uncontended);
#pragma omp parallel
    {
        for (int i = 0; i < 4; i++) {
            omp_set_lock(&lock);
            total++;
            omp_unset_lock(&lock);
        }
        for (int i = 0; i < 3; i++) {
            omp_set_nest_lock(&nest);
            nested++;
            omp_unset_nest_lock(&nest);
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%d %d\n", total, nested);
    return !(total == 12 && nested == 9);
}

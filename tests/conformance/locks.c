// Locks and nest locks; tests that fail. (libgomp 12 has no locks with hints: see locks_hint.c.) 3 threads x 20 set/unset, 3 x 5 x 2 nested, then one thread: test (got), test (refused), unset;
// nest test twice (both got), unset twice.
//# Construct: locks; nest locks
//# Events: mutex_acquired{kind=5} = 3*20 + 1
//# Events: mutex_released{kind=5} = 3*20 + 1
//# Events: mutex_failed{kind=5} = 1
//# Events: mutex_acquire{kind=5} = 3*20 + 2
//# Events: mutex_acquired{kind=6} = 3*5*2 + 2
//# Events: mutex_released{kind=6} = 3*5*2 + 2
//# Events: mutex_failed{kind=6} = 0
#include <omp.h>
#include <stdio.h>

int main(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int total = 0, nested = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel
    {
        for (int i = 0; i < 20; i++) {
            omp_set_lock(&lock);
            total++;
            omp_unset_lock(&lock);
        }
        for (int i = 0; i < 5; i++) {
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            nested++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
        }
    }
    const int first = omp_test_lock(&lock), second = omp_test_lock(&lock);
    omp_unset_lock(&lock);
    const int once = omp_test_nest_lock(&nest), twice = omp_test_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%d %d %d%d %d%d\n", total, nested, first, second, once, twice);
    return !(total == 60 && nested == 15 && first == 1 && second == 0 && once == 1 && twice == 2);
}

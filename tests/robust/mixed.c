// Regions, loops, tasks, locks and user events of two threads: 2 * (50 + 200) + 30 user events.
#include <instr/instr.h>
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0, inside = 0, looped = 0, chained = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        for (int i = 1; i <= 50; i++) {
            instr_event(500, (unsigned)i);
            omp_set_lock(&lock);
            sum += i;
            omp_unset_lock(&lock);
#pragma omp critical
            inside += i;
        }
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 100; i++) {
#pragma omp atomic
            looped += i;
        }
#pragma omp single
        for (int i = 1; i <= 30; i++) {
#pragma omp task depend(inout : chained) firstprivate(i)
            {
                instr_event(501, (unsigned)i);
                chained += i;
            }
        }
        instr_region_begin("tail");
        for (int i = 1; i <= 200; i++)
            instr_event(502, (unsigned)i);
        instr_region_end();
    }
    omp_destroy_lock(&lock);
    printf("%ld %ld %ld %ld\n", sum, inside, looped, chained);
    return 4;
}

// Tasks that only another thread than their creator can run: the creator waits for each without a scheduling point.
//# Flags: -O1 -fopenmp
//# Flags@sparc-linux: -latomic
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 12
//# Expect: tasks.executed = 12
//# Expect: tasks.undeferred = 0
//# Expect: task_functions[@elsewhere].created = 12
//# Expect: task_functions[@elsewhere].executed = 12
//# Events: task_begin = 12
//# Comms: all = 12
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int done = 0, elsewhere = 0;
#pragma omp parallel num_threads(2) shared(done, elsewhere)
#pragma omp single
    {
        const int creator = omp_get_thread_num();
        for (int i = 1; i <= 12; i++) {
            int seen;
#pragma omp task firstprivate(i, creator) shared(done, elsewhere) // @elsewhere
            {
                elsewhere += omp_get_thread_num() != creator;
#pragma omp atomic write
                done = i;
            }
            do {
#pragma omp atomic read
                seen = done;
            } while (seen != i);
        }
    }
    printf("%d tasks ran elsewhere\n", elsewhere);
    return 0;
}

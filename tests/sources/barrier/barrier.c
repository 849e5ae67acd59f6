// Explicit barriers: every thread waits at each of them.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=4 OMP_DYNAMIC=false
//# Events: sync_begin{kind=1} = 4*25
//# Events: sync_end{kind=1} = 4*25
//# Events: sync_begin = 4*25
#include <stdio.h>

int main(void)
{
    int phase[4] = {0}, wrong = 0;
#pragma omp parallel
    for (int i = 0; i < 25; i++) {
        // Nobody is a whole barrier ahead.
        for (int other = 0; other < 4; other++) {
            int seen;
#pragma omp atomic read
            seen = phase[other];
            if (seen < i - 1 || seen > i + 1) {
#pragma omp atomic
                wrong++;
            }
        }
        extern int omp_get_thread_num(void);
        int mine = omp_get_thread_num();
#pragma omp atomic write
        phase[mine] = i + 1;
#pragma omp barrier
    }
    printf("%d %d\n", phase[0] + phase[1] + phase[2] + phase[3], wrong);
    return wrong;
}

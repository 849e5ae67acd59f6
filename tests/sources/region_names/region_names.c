// Many names of all lengths in small packets: a name is often the last event of its packet, which must end on a word all the same.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=1 INSTR_BUFFER=4096
//# Expect: threads[*].discarded = 0
//# Events: region_begin = 2000
//# Events: region_end = 2000
//# Events: flush >= 10
#include <instr/instr.h>
#include <stdio.h>

static char names[2000][8];

int main(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    for (int i = 0; i < 2000; i++) {
        snprintf(names[i], sizeof names[i], "%.*d", 1 + i % 6, i);
        instr_region_begin(names[i]);
        instr_region_end();
    }
    printf("%d\n", threads);
    return 0;
}

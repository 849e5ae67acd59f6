// errno is the program's own: no probe changes it, even when the trace's buffer is written out underneath.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false INSTR_BUFFER=8192
//# Expect: threads.len = 2
#include <errno.h>
#include <instr/instr.h>
#include <omp.h>
#include <stdio.h>

static int wrong;

static void look(int expected)
{
    if (errno != expected) {
#pragma omp atomic
        wrong++;
    }
}

int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    {
        errno = 42;
        for (int i = 0; i < 2000; i++) {
            instr_event(7, (unsigned)i);
            look(42);
        }
        errno = 43;
        for (int i = 0; i < 200; i++) {
            omp_set_lock(&lock);
            omp_unset_lock(&lock);
            look(43);
#pragma omp critical
            look(43);
#pragma omp task
            look(errno);
#pragma omp taskwait
            look(43);
        }
    }
    printf("%d\n", wrong);
    return wrong != 0;
}

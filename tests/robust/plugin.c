// A library with OpenMP inside, for loader.c: 3 regions of 2 threads, 10 tasks in all.
#include <instr/instr.h>

int plugin_work(int value)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp atomic
            sum += value;
        }
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(sum)
        {
#pragma omp atomic
            sum += 1;
        }
    }
    instr_event(900, (unsigned)sum);
    return sum;
}

// A library with a region called NAME, and 2 regions of OpenMP with 2 threads each, where it is compiled so.
#include <instr/instr.h>

#ifndef NAME
#define NAME "library"
#endif

__attribute__((constructor)) static void loaded(void)
{
    instr_event(903, 1);
}

__attribute__((destructor)) static void unloaded(void)
{
    instr_event(904, 1);
}

int library_work(int value)
{
    int sum = 0;
    instr_region_begin(NAME);
    for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp atomic
            sum++;
        }
    }
    instr_event(902, (unsigned)value);
    instr_region_end();
    return sum;
}

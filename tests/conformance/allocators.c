// The omp_alloc family: alloc, aligned_alloc, calloc, realloc, each freed; the allocate clause, once for each thread (GCC calls nothing
// for the clause with the default allocator).
//# Construct: omp_alloc family; allocate clause
//# Unseen@libomp: libomp reports nothing of memory from its allocators
//# Events: parallel_begin = 1
//# Events@libomp: omp_alloc = 0
//# Events@libomp: omp_free = 0
//# Events@gcc: omp_alloc{kind=1} = 2 + 1 + 1 + 1
//# Events@gcc: omp_free{kind=1} >= 4
//# Events@gcc: omp_alloc{kind=2} = 3
//# Events@gcc: omp_free{kind=2} = 3
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    int bad = 0, sum = 0, private = 0;
    char *a = omp_alloc(100, omp_default_mem_alloc);
    char *b = omp_aligned_alloc(64, 128, omp_default_mem_alloc);
    char *c = omp_calloc(10, 10, omp_default_mem_alloc);
    char *d = omp_alloc(10, omp_default_mem_alloc);
    d = omp_realloc(d, 1000, omp_default_mem_alloc, omp_default_mem_alloc);
    if (a == NULL || b == NULL || c == NULL || d == NULL)
        return 1;
    bad += (uintptr_t)b % 64 != 0;
    for (int i = 0; i < 100; i++)
        bad += c[i] != 0;
    omp_free(a, omp_default_mem_alloc);
    omp_free(b, omp_default_mem_alloc);
    omp_free(c, omp_default_mem_alloc);
    omp_free(d, omp_default_mem_alloc);
#pragma omp parallel private(private) allocate(omp_low_lat_mem_alloc : private)
    {
        int *address = &private;
        *address = 2;
#pragma omp atomic
        sum += private;
    }
    printf("%d %d\n", bad, sum);
    return !(bad == 0 && sum == 6);
}

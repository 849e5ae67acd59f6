/* The program whose traces of version 1 lie beside it: what it does on two threads is in the test that reads them. */
#include <stdint.h>
#include <stdio.h>

extern void instr_event(uint32_t type, uint64_t value) __attribute__((weak));
extern void instr_region_begin(const char *name) __attribute__((weak));
extern void instr_region_end(void) __attribute__((weak));

static volatile double sink;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

int main(void)
{
    int cells[4] = {0};
    int sum = 0;
    if (instr_region_begin)
        instr_region_begin("chain");
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        for (int step = 0; step < 5; step++)
            for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : cells[i]) depend(inout : cells[i + 1]) firstprivate(i)
                {
                    work(1000);
                    cells[i + 1] += cells[i] + 1;
                }
            }
#pragma omp for schedule(dynamic, 4) reduction(+ : sum)
        for (int i = 0; i < 40; i++)
            sum += i;
#pragma omp critical
        sum += 1;
    }
    if (instr_region_end)
        instr_region_end();
    for (uint32_t i = 0; i < 7; i++)
        if (instr_event)
            instr_event(1000 + i, (uint64_t)i << 40);
    printf("%d %d\n", sum, cells[3]);
    return 0;
}

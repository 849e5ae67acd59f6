// Task data of all sizes: none (a NULL block), a byte, 10,000 bytes, an aligned block, tasks outside any region, a task in a task in a task.
// 4 none, 4 bytes, 3 big, 3 aligned, 2 outside, 1 + 1 + 1 nested.
//# Construct: data of tasks
//# Events: task_create = 4 + 4 + 3 + 3 + 2 + 3
//# Events: task_begin = 4 + 4 + 3 + 3 + 2 + 3
//# Edges: 0
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct big {
    unsigned char bytes[10000];
};
struct aligned {
    _Alignas(64) int value;
};

static int total, bad;

static void add(int n)
{
#pragma omp atomic
    total += n;
}

int main(void)
{
    struct big big;
    memset(big.bytes, 1, sizeof big.bytes);
    struct aligned aligned = {7};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 4; i++) {
#pragma omp task
            add(1);
        }
        for (char c = 0; c < 4; c++) {
#pragma omp task firstprivate(c)
            add(c);
        }
        for (int i = 0; i < 3; i++) {
#pragma omp task firstprivate(big)
            {
                int sum = 0;
                for (size_t k = 0; k < sizeof big.bytes; k++)
                    sum += big.bytes[k];
                add(sum);
            }
        }
        for (int i = 0; i < 3; i++) {
#pragma omp task firstprivate(aligned)
            {
                if ((uintptr_t)&aligned % 64 != 0)
                    bad = 1;
                add(aligned.value);
            }
        }
#pragma omp task
        {
            add(1);
#pragma omp task
            {
                add(1);
#pragma omp task
                add(1);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
#pragma omp task firstprivate(i)
        add(i);
    }
    printf("%d %d\n", total, bad);
    return !(total == 4 + 6 + 30000 + 21 + 3 + 1 && bad == 0);
}

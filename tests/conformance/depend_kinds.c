// in, out, inout on one variable: out, 3 readers, inout, 2 readers, out.
// Edges: 3 (out to readers) + 3 (readers to inout) + 2 + 2 = 10
//# Construct: depend(in, out, inout)
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 8
//# Events: task_begin = 8
//# Entries: task_create{kind=1} = 5
//# Entries: task_create{kind=2} = 3
//# Edges: 3 + 3 + 2 + 2
//# Redirect
#include <stdio.h>

static int x, bad;

static void expect(int value)
{
    if (x != value) {
#pragma omp atomic
        bad++;
    }
}

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1;
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : x)
            expect(1);
        }
#pragma omp task depend(inout : x)
        x++;
        for (int i = 0; i < 2; i++) {
#pragma omp task depend(in : x)
            expect(2);
        }
#pragma omp task depend(out : x)
        x = 10;
    }
    printf("%d %d\n", x, bad);
    return !(x == 10 && bad == 0);
}

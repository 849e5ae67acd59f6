// More dependences than fit in one event: 200 at once, then one each, then 200 at once.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 1 + 200 + 1
//# Expect: tasks.executed = 1 + 200 + 1
//# Expect: tasks.edges = 200 + 200
//# Events: task_create = 202
//# Events: task_depend >= 2*2
#include <stdio.h>

enum { N = 200 };
static int value[N];

int main(void)
{
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(iterator(i = 0 : N), out : value[i])
        for (int i = 0; i < N; i++)
            value[i] = i;
        for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : value[i]) firstprivate(i)
            value[i] *= 2;
        }
#pragma omp task depend(iterator(i = 0 : N), in : value[i])
        for (int i = 0; i < N; i++)
            sum += value[i];
    }
    printf("%d\n", sum);
    return sum == N * (N - 1) ? 0 : 1;
}

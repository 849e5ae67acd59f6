// Recursive tasks: fib(10) creates 2 (F(11) - 1) = 176 tasks and waits 88 times.
//# Also: aarch64-linux riscv64-linux
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: tasks.created = 176
//# Expect: tasks.executed = 176
//# Expect: task_functions[@left].executed = 88
//# Expect: task_functions[@right].executed = 88
//# Events: task_begin = 176
//# Events: task_end = 176
//# Events: sync_begin{kind=3} = 88
#include <stdio.h>

static int fib(int n)
{
    int left, right;
    if (n < 2)
        return n;
#pragma omp task shared(left) // @left
    left = fib(n - 1);
#pragma omp task shared(right) // @right
    right = fib(n - 2);
#pragma omp taskwait
    return left + right;
}

int main(void)
{
    int result = 0;
#pragma omp parallel
#pragma omp single
    result = fib(10);
    printf("%d\n", result);
    return result == 55 ? 0 : 1;
}

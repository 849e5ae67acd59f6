// C++: exceptions thrown and caught inside regions, tasks, critical sections.
// 3 threads: one throw each in the region, 2 tasks each that throw, one critical each.
//# Construct: C++ exceptions
//# Events: parallel_begin = 1
//# Events: task_create = 3*2
//# Events: task_begin = 3*2
//# Events: task_end = 3*2
//# Events: mutex_acquired{kind=1} + mutex_acquired{kind=2} = 3
//# Events: mutex_released{kind=1} + mutex_released{kind=2} = 3
#include <cstdio>
#include <stdexcept>

static int caught;

static void fail(int n)
{
    throw std::runtime_error(n == 0 ? "zero" : "other");
}

static void attempt(int n)
{
    try {
        fail(n);
    } catch (const std::exception &) {
#pragma omp atomic
        caught++;
    }
}

int main()
{
#pragma omp parallel
    {
        attempt(0);
        for (int i = 0; i < 2; i++) {
#pragma omp task firstprivate(i)
            attempt(i);
        }
#pragma omp critical
        attempt(1);
    }
    std::printf("%d\n", caught);
    return caught != 3 * 4;
}

// C++ exceptions thrown and caught inside region and task bodies, through frames with destructors.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[*].count = 2
//# Expect: tasks.created = 12
//# Expect: tasks.executed = 12
//# Expect: criticals[critical].count = 3*4
#include <cstdio>
#include <stdexcept>

static int destroyed, caught;

struct Guard {
    ~Guard()
    {
#pragma omp atomic
        destroyed++;
    }
};

static void thrower(int value)
{
    Guard guard;
    if (value % 2 == 0)
        throw std::runtime_error("even");
}

int main()
{
#pragma omp parallel
    for (int i = 0; i < 4; i++) {
        try {
            thrower(i);
        } catch (const std::exception &) {
#pragma omp critical
            caught++;
        }
        // A critical section that is entered whether or not something was thrown before.
        try {
            Guard guard;
            if (i % 2 == 1)
                throw 1;
        } catch (int) {
#pragma omp critical
            caught++;
        }
    }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 12; i++) {
#pragma omp task firstprivate(i)
        {
            try {
                thrower(i);
            } catch (const std::exception &) {
#pragma omp atomic
                caught++;
            }
        }
    }
    std::printf("%d destroyed, %d caught\n", destroyed, caught);
    return destroyed == 12 + 12 + 12 && caught == 12 + 6 ? 0 : 1;
}

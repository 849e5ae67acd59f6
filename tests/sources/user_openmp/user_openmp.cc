// User events from every thread of a team and from tasks, in C++.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: tasks.created = 6
//# Events: user_event = 3*50 + 6
//# Events: user_event{type=77} = 6
//# Events: region_begin = 3
//# Events: region_end = 3
#include <cstdio>
#include <instr/instr.h>

int main()
{
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        instr_region_begin("team");
        for (int i = 1; i <= 50; i++) {
            instr_event(76, i);
            sum++;
        }
        instr_region_end();
#pragma omp single
        for (int i = 1; i <= 6; i++) {
#pragma omp task firstprivate(i)
            instr_event(77, i);
        }
    }
    std::printf("%d\n", sum);
    return sum == 150 ? 0 : 1;
}

// schedule(runtime) with OMP_SCHEDULE=dynamic,7: ceil(100 / 7) = 15 chunks; set to static,8 by the program: ceil(100 / 8) = 13.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_SCHEDULE=dynamic,7
//# Events: loop_begin = 3*3
//# Events: chunk_begin = 15 + 15 + 13
//# Events: work_end = 3*3
#include <omp.h>
#include <stdio.h>

static long run(int n)
{
    long sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static long constant(void)
{
    long sum = 0;
#pragma omp parallel for schedule(monotonic : runtime)
    for (int i = 0; i < 100; i++) {
#pragma omp atomic
        sum += i;
    }
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    long first = run(99 + argc), second = constant();
    omp_set_schedule(omp_sched_static, 8);
    printf("%ld %ld %ld\n", first, second, run(99 + argc));
    return 0;
}

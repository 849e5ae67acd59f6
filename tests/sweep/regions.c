/* Regions of known times: `phase` for 30 ms with a parallel region of 20 ms in it, then 10 ms outside, then `phase` for another 20 ms. Naps may end late: what each took by the clock goes into the file
 * `times`, in s: both executions of `phase`, the parallel region, what is outside. */
#include <instr/instr.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_ms(long ms)
{
    struct timespec time = { 0, ms * 1000000L };
    nanosleep(&time, NULL);
}

int main(void)
{
    double begin[4], end[4];
    begin[0] = now();
    instr_region_begin("phase");
    sleep_ms(10);
    begin[1] = now();
#pragma omp parallel num_threads(2)
    sleep_ms(20);
    end[1] = now();
    instr_region_end();
    end[0] = begin[2] = now();
    sleep_ms(10);
    end[2] = begin[3] = now();
    instr_region_begin("phase");
    sleep_ms(20);
    instr_region_end();
    end[3] = now();
    FILE *file = fopen("times", "w");
    if (file == NULL)
        return 1;
    fprintf(file, "%.9f %.9f %.9f %.9f\n", end[0] - begin[0], end[3] - begin[3], end[1] - begin[1], end[2] - begin[2]);
    return fclose(file);
}

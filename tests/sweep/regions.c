/* Regions of known times: `phase` for 30 ms with a parallel region of 20 ms in it, then 10 ms outside, then `phase` for another 20 ms. All by the clock. */
#include <instr/instr.h>
#include <time.h>

static void sleep_ms(long ms)
{
    struct timespec time = { 0, ms * 1000000L };
    nanosleep(&time, NULL);
}

int main(void)
{
    instr_region_begin("phase");
    sleep_ms(10);
#pragma omp parallel num_threads(2)
    sleep_ms(20);
    instr_region_end();
    sleep_ms(10);
    instr_region_begin("phase");
    sleep_ms(20);
    instr_region_end();
    return 0;
}

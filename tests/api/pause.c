/* `pause MS`: records, stops, records again, MS milliseconds of computing each; the middle ones have an event of type 6 that nobody is to see. */
#include <instr/instr.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void compute(int ms)
{
    const double end = now() + ms;
    while (now() < end)
        ;
}

int main(int argc, char **argv)
{
    const int ms = argc > 1 ? atoi(argv[1]) : 50;
    instr_event(5, 1);
    compute(ms);
    const double stopped = now();
    instr_stop();
    instr_event(6, 1);
    compute(ms);
    const struct timespec nap = {0, 1000000};
    for (int i = 0; i < 20; i++) /* switches */
        nanosleep(&nap, NULL);
    instr_start(NULL);
    const double started = now();
    compute(ms);
    instr_event(5, 2);
    printf("%.6f\n", started - stopped);
    return 0;
}

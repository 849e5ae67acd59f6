/*
 * `pairs PAIRS INSIDE OUTSIDE [CONFIG]`: so often starts recording, writes INSIDE events of type 5 on each of two threads, stops, and writes OUTSIDE events of
 * type 6 on each. The first OUTSIDE events come before the first start. In every second pair start and stop are called by all threads inside the
 * parallel region. Prints what the calls returned.
 */
#include <instr/instr.h>

#include <stdio.h>
#include <stdlib.h>

static void events(uint32_t type, int count)
{
    for (int i = 1; i <= count; i++) {
        instr_region_begin(type == 5 ? "inside" : "outside");
        instr_event(type, (uint64_t)i);
        instr_region_end();
    }
}

int main(int argc, char **argv)
{
    const int pairs = argc > 3 ? atoi(argv[1]) : 0, inside = argc > 3 ? atoi(argv[2]) : 0, outside = argc > 3 ? atoi(argv[3]) : 0;
    const char *config = argc > 4 ? argv[4] : NULL;
    int started = 0, stopped = 0;
    events(6, outside);
    for (int pair = 0; pair < pairs; pair++) {
        if (pair % 2 == 0) {
            started += instr_start(config);
            started += instr_start(NULL);
#pragma omp parallel num_threads(2)
            events(5, inside);
            stopped += instr_stop();
            stopped += instr_stop();
#pragma omp parallel num_threads(2)
            events(6, outside);
        } else {
#pragma omp parallel num_threads(2) reduction(+ : started, stopped)
            {
                started += instr_start(NULL);
#pragma omp barrier
                events(5, inside);
#pragma omp barrier
                stopped += instr_stop();
#pragma omp barrier
                events(6, outside);
            }
        }
    }
    printf("started %d stopped %d\n", started, stopped);
    return 0;
}

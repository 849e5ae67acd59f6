/*
 * Two threads on one processor hand a byte to and fro, so that each hand-over is a context switch, and compute in between:
 *
 *   switches HANDOVERS STEPS_BETWEEN
 */
#define _GNU_SOURCE
#include "programs/program.h"

#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile uint64_t kept;

static void compute(long steps)
{
    uint64_t x = kept;
    for (long i = 0; i < steps; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    kept = x;
}

static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
    const long handovers = argument(argc, argv, 1, "a number of hand-overs", 1, 10000000);
    const long steps = argument(argc, argv, 2, "a number of steps", 0, 100000000);
    int ends[2][2];
    long moved = 0;
    if (pipe(ends[0]) != 0 || pipe(ends[1]) != 0) {
        perror("switches: error: pipe");
        return 1;
    }
    const double begin = now();
    const long before = switches();
#pragma omp parallel num_threads(2) reduction(+ : moved)
    {
        const int me = omp_get_thread_num();
        char byte = 'x';
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        int ok = sched_setaffinity(0, sizeof one, &one) == 0;
        for (long i = 0; ok && i < handovers; i++) {
            if (me == 1)
                ok = read(ends[0][0], &byte, 1) == 1;
            compute(steps);
            ok = ok && write(ends[me][1], &byte, 1) == 1;
            if (me == 0)
                ok = ok && read(ends[1][0], &byte, 1) == 1;
            moved += ok;
        }
    }
    printf("switches: %ld\n", switches() - before);
    return report("switches", now() - begin, 0, moved == 2 * handovers);
}

/*
 * Stands in for a parallel program on any number of threads: it takes as long as a law says, by the clock, and computes nothing.
 *
 *     law amdahl SECONDS FRACTION
 *     law universal SECONDS CONTENTION COHERENCY
 *     law terms C D SIZE                C * n * log2(n) / p + D * p
 *
 * p is OMP_NUM_THREADS. It appends a line to the file LOG names, so that runs can be counted.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(int argc, char **argv, double p)
{
    double v[3] = { 0, 0, 0 };
    for (int i = 0; i < 3 && i + 2 < argc; i++)
        v[i] = atof(argv[i + 2]);
    if (strcmp(argv[1], "amdahl") == 0)
        return v[0] * (v[1] + (1 - v[1]) / p);
    if (strcmp(argv[1], "universal") == 0)
        return v[0] * (1 + v[1] * (p - 1) + v[2] * p * (p - 1)) / p;
    return v[0] * v[2] * log2(v[2]) / p + v[1] * p;
}

int main(int argc, char **argv)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (argc < 4)
        return 2;
    const char *threads = getenv("OMP_NUM_THREADS");
    double p = threads != NULL ? atof(threads) : 1;
    const char *log = getenv("LOG");
    if (log != NULL) {
        FILE *file = fopen(log, "a");
        if (file != NULL) {
            fprintf(file, "%g %s\n", p, argv[argc - 1]);
            fclose(file);
        }
    }
    double wanted = seconds(argc, argv, p);
    long long ns = begin.tv_sec * 1000000000LL + begin.tv_nsec + (long long)(wanted * 1e9);
    end.tv_sec = (time_t)(ns / 1000000000LL);
    end.tv_nsec = (long)(ns % 1000000000LL);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        ;
    return 0;
}

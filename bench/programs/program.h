/* What the recursive programs share: arguments, time, and the two lines that the benchmark reads. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Argument `index` as a whole number of `least` to `most`; ends the program when it is not. */
static inline long argument(int argc, char **argv, int index, const char *name, long least, long most)
{
    char *end = NULL;
    long value = index < argc ? strtol(argv[index], &end, 10) : 0;
    if (end == NULL || end == argv[index] || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s: error: argument %d is not %s: expected a whole number from %ld to %ld\n", argv[0], index, name,
                least, most);
        exit(2);
    }
    return value;
}

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* `tasks` is counted by arithmetic, not while the program runs. A wrong result is an error. */
static inline int report(const char *program, double seconds, long tasks, int right)
{
    if (!right) {
        fprintf(stderr, "%s: error: the result is wrong\n", program);
        return 1;
    }
    printf("time: %.6f s\ntasks: %ld\n", seconds, tasks);
    return 0;
}

#endif

/* Times that programs measure themselves. */
#ifndef TIMES_H
#define TIMES_H

#include <inttypes.h>
#include <time.h>

static inline int64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static inline void rest(int ms)
{
    struct timespec time = {0, ms * 1000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

#endif

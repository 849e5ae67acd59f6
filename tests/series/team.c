// Two threads compute for so many milliseconds of processor time each.
#include <stdlib.h>
#include <time.h>

static long long used_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words)
{
    const long long least = count > 1 ? atoll(words[1]) * 1000000LL : 100000000;
#pragma omp parallel num_threads(2)
    {
        const long long begin = used_ns();
        while (used_ns() - begin < least) {}
    }
    return 0;
}

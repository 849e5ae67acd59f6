/*
 * Two processes on one processor hand a byte to and fro, so that each hand-over is a context switch; nothing else. Prints the processor time of both.
 *
 *   handover HANDOVERS
 */
#define _GNU_SOURCE
#include "programs/program.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static int play(int from, int to, long handovers, int first)
{
    char byte = 'x';
    int ok = 1;
    for (long i = 0; ok && i < handovers; i++) {
        if (first || i > 0)
            ok = write(to, &byte, 1) == 1;
        ok = ok && read(from, &byte, 1) == 1;
    }
    return ok && (first || write(to, &byte, 1) == 1);
}

int main(int argc, char **argv)
{
    const long handovers = argument(argc, argv, 1, "a number of hand-overs", 1, 10000000);
    int there[2], back[2], status = 1;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(there) != 0 || pipe(back) != 0) {
        perror("handover: error");
        return 1;
    }
    const pid_t child = fork();
    if (child == 0)
        _exit(!play(there[0], back[1], handovers, 0));
    const int ok = child > 0 && play(back[0], there[1], handovers, 1) && waitpid(child, &status, 0) == child && status == 0;
    struct rusage own, other;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &other);
    printf("switches: %ld\n", own.ru_nvcsw + own.ru_nivcsw + other.ru_nvcsw + other.ru_nivcsw);
    return report("handover", seconds(own.ru_utime) + seconds(own.ru_stime) + seconds(other.ru_utime) + seconds(other.ru_stime), 0, ok);
}

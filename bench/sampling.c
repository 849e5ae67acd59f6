/*
 * Work of a known amount, eight calls deep: what samples take of it shows in the thread's processor time, which other programs on the
 * machine hardly change.
 *
 *   sampling ADDITIONS_PER_BLOCK BLOCKS [task-clock|timer]
 *
 * With the name of a clock, the program asks the kernel itself for a signal each millisecond and does nothing in its handler: what the
 * system alone takes, whoever samples.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <instr/instr.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PERIOD = 1000000 }; /* ns */

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t work(int depth, long additions)
{
    uint64_t sum = 0;
    if (depth > 0) {
        sum = work(depth - 1, additions);
        return sum + sink;
    }
    for (long i = 0; i < additions; i++)
        sum = sum * 31 + (uint64_t)i;
    sink = sum;
    return sum;
}

static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double block(long additions)
{
    double begin = processor_time();
    work(8, additions);
    return processor_time() - begin;
}

static void nothing(int signal)
{
    (void)signal;
}

/* Perf's task clock, as runtime/platform/linux/sampling.c sets it up. */
static int start_task_clock(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK};
    attributes.sample_period = PERIOD;
    attributes.wakeup_events = 1;
    attributes.exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        attributes.exclude_kernel = 1;
        fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
    if (fd < 0)
        return -1;
    const struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
    if (fcntl(fd, F_SETSIG, SIGURG) != 0 || fcntl(fd, F_SETOWN_EX, &owner) != 0)
        return -1;
    return fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
}

static int start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
    const struct itimerspec each = {{0, PERIOD}, {0, PERIOD}};
    timer_t timer;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return -1;
    return timer_settime(timer, 0, &each, NULL);
}

static int start_clock(const char *name)
{
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    if (sigaction(SIGURG, &action, NULL) != 0)
        return -1;
    return strcmp(name, "timer") == 0 ? start_timer() : start_task_clock();
}

int main(int argc, char **argv)
{
    struct bench bench = bench_arguments(argc, argv);
    double times[BENCH_LARGEST_BLOCKS];
    if (argc > 3 && start_clock(argv[3]) != 0) {
        perror(argv[3]);
        return 1;
    }
    instr_event(1, 1); /* from here on the thread is sampled */
    block(bench.operations);
    for (int i = 0; i < bench.blocks; i++)
        times[i] = block(bench.operations);
    bench_print("work", &bench, times);
    return 0;
}

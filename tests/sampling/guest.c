/*
 * What samples must not change: `exec N` becomes itself N times, and the new program must not meet a period of the old one's; `waits`
 * blocks every signal and waits for any; `late` does so too, and a period ends while sampling is being ended; `stack` runs with an alternate stack of the least size, then has a handler run on a usual one, and
 * looks at what lies below; `files N` opens so many files while 400 threads are sampled; `closes` closes whatever is open. Prints "ok".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 400
#define LEAST 2048 /* MINSIGSTKSZ, SIGSTKSZ */
#define USUAL 8192

static void spin(double seconds)
{
    struct timespec now, begin;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

static void record(void)
{
    volatile int value = 0;
#pragma omp critical
    value = 1;
}

static int becomes(char *program, int times)
{
    char text[16];
    record();
    spin(0.002);
    if (times == 0)
        return 1;
    snprintf(text, sizeof text, "%d", times - 1);
    execl(program, program, "exec", text, (char *)NULL);
    return 0;
}

static int sent; /* a signal that is sent when the runtime closes perf's clock */

/* Stands before the C library's: the runtime calls it too. */
int ioctl(int file, unsigned long request, ...)
{
    va_list rest;
    va_start(rest, request);
    void *const argument = va_arg(rest, void *);
    va_end(rest);
    if (sent != 0)
        raise(sent);
    return (int)syscall(SYS_ioctl, file, request, argument);
}

static int waits(int late)
{
    const struct timespec at_once = {0, 0};
    sigset_t all;
    siginfo_t found;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    record();
    spin(0.05);
    sent = late;
    return sigtimedwait(&all, &found, &at_once) == -1;
}

static char area[16384 + USUAL] __attribute__((aligned(64)));

/* Spins in a handler for `signal`, or outside of any, with an alternate stack of so many bytes; whether nothing below it was touched. */
static int with_stack(size_t bytes, int signal)
{
    const stack_t other = {.ss_sp = area + 16384, .ss_size = bytes};
    memset(area, 0x5a, sizeof area);
    if (sigaltstack(&other, NULL) != 0)
        return bytes == LEAST; /* this processor's registers need more */
    if (signal != 0)
        raise(signal);
    else
        spin(0.05);
    for (size_t i = 0; i < 16384; i++)
        if (area[i] != 0x5a)
            return 0;
    return 1;
}

static void handler(int signal)
{
    (void)signal;
    spin(0.05);
}

static int stack(void)
{
    struct sigaction action;
    record();
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    return with_stack(LEAST, 0) && sigaction(SIGUSR1, &action, NULL) == 0 && with_stack(USUAL, SIGUSR1);
}

static pthread_barrier_t meet;

static void *idle(void *unused)
{
    record();
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    return unused;
}

static int files(int wanted)
{
    const struct rlimit limit = {1024, 1024};
    pthread_t threads[THREADS];
    pthread_attr_t small;
    int opened = 0;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 * 1024);
    pthread_barrier_init(&meet, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &small, idle, NULL) != 0)
            return 0;
    pthread_barrier_wait(&meet);
    while (opened < wanted && open("/dev/null", O_RDONLY) >= 0)
        opened++;
    pthread_barrier_wait(&meet);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return opened == wanted;
}

static int closes(void)
{
    const int most = getdtablesize();
    record();
    spin(0.02);
    for (int i = 3; i < most && i < 65536; i++)
        close(i);
    const int mine = open("/dev/null", O_RDONLY);
    spin(0.02);
    record();
    return mine == 3;
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 0;
    const int right = strcmp(what, "exec") == 0    ? becomes(argv[0], number)
                      : strcmp(what, "waits") == 0 ? waits(0)
                      : strcmp(what, "late") == 0  ? waits(number)
                      : strcmp(what, "stack") == 0 ? stack()
                      : strcmp(what, "closes") == 0 ? closes()
                                                   : files(number);
    puts(right ? "ok" : "wrong");
    return 0;
}

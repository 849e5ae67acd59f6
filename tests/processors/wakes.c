/* Threads that wake each other, give their processor away, or wait for it, so often and so long as the kernel's own accounts say. Prints NAME=NUMBER words. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2][2];
static pthread_barrier_t both;
static volatile int over;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void spin(clockid_t clock, uint64_t ns)
{
    const uint64_t end = read_clock(clock) + ns;
    while (read_clock(clock) < end)
        ;
}

static void pin(void)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
            break;
        }
    sched_setaffinity(0, sizeof one, &one);
}

/* What the kernel has of this thread since `before`. */
static void tell(long number, const struct rusage *before)
{
    struct rusage now;
    getrusage(RUSAGE_THREAD, &now);
    printf("tid%ld=%ld voluntary%ld=%ld involuntary%ld=%ld\n", number, (long)syscall(SYS_gettid), number, now.ru_nvcsw - before->ru_nvcsw, number,
           now.ru_nivcsw - before->ru_nivcsw);
}

/* How often players hand the byte over, and how long they compute before. */
static int rounds = 1000;
static uint64_t work_ns = 50000;

/* Two hand a byte to and fro; who has it computes, so that the other one waits. */
static void *player(void *arg)
{
    const long me = (long)(intptr_t)arg;
    struct rusage before;
    char byte = 'x';
    pthread_barrier_wait(&both);
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < rounds; i++) {
        if (me == 1 && read(ends[0][0], &byte, 1) != 1)
            exit(1);
        if (work_ns > 0)
            spin(CLOCK_MONOTONIC, work_ns);
        if (write(ends[me][1], &byte, 1) != 1)
            exit(1);
        if (me == 0 && read(ends[1][0], &byte, 1) != 1)
            exit(1);
    }
    tell(me, &before);
    return NULL;
}

static void *yielder(void *arg)
{
    struct rusage before;
    pin();
    pthread_barrier_wait(&both);
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < 2000; i++)
        sched_yield();
    tell((long)(intptr_t)arg, &before);
    return NULL;
}

/* The first computes all the time; the other one wants its processor again and again. */
static void *guest(void *arg)
{
    const long me = (long)(intptr_t)arg;
    struct rusage before;
    pin();
    pthread_barrier_wait(&both);
    if (me == 0) {
        while (!over)
            spin(CLOCK_MONOTONIC, 1000000);
        return NULL;
    }
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < 60; i++) {
        usleep(1000);
        spin(CLOCK_THREAD_CPUTIME_ID, 1500000);
    }
    unsigned long long ran = 0, waited = 0;
    FILE *const file = fopen("/proc/thread-self/schedstat", "r");
    if (file == NULL || fscanf(file, "%llu %llu", &ran, &waited) != 2)
        exit(1);
    fclose(file);
    printf("waited=%llu\n", waited);
    tell(me, &before);
    over = 1;
    return NULL;
}

static void sleeper(void)
{
    const struct timespec time = {.tv_nsec = 100000};
    struct rusage before;
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < 300; i++)
        nanosleep(&time, NULL);
    tell(0, &before);
}

/* Short children until one has had a number that ends as this process's own does. */
static void namesake(void)
{
    pid_t child;
    do {
        child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    } while (child > 0 && (child - getpid()) % 4096 != 0);
}

static void two(void *(*run)(void *))
{
    pthread_t other;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, run, (void *)1);
    run((void *)0);
    pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    if (pipe(ends[0]) != 0 || pipe(ends[1]) != 0)
        return 1;
    if (strcmp(what, "players") == 0) {
        two(player);
    } else if (strcmp(what, "storm") == 0) {
        rounds = 200000;
        work_ns = 0;
        pin();
        two(player);
    } else if (strcmp(what, "yielders") == 0) {
        two(yielder);
    } else if (strcmp(what, "guest") == 0) {
        two(guest);
    } else if (strcmp(what, "sleeper") == 0) {
        sleeper();
    } else if (strcmp(what, "namesake") == 0) {
        namesake();
        sleeper();
    } else if (strcmp(what, "children") == 0) {
        for (int i = 0; i < 1000; i++)
            if (fork() == 0)
                _exit(0);
        while (wait(NULL) > 0)
            ;
    } else {
        return 2;
    }
    return 0;
}

/* Processes and threads whose switches, processor time and waits are known otherwise. Prints NAME=NUMBER words. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Computes until this thread has used so much processor time. */
static void spin(uint64_t ns)
{
    volatile unsigned x = 0;
    const uint64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 1000; i++)
            x = x * 7 + 1;
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

/* Two that share a processor: what each used from when both were there, until the other ended. */
struct shared {
    _Atomic int ready;
    _Atomic clockid_t clock[2];
    _Atomic uint64_t start[2];
    _Atomic uint64_t end[2]; /* 0: still at it */
};

static uint64_t used_by_other(struct shared *s, int other)
{
    const uint64_t end = s->end[other];
    return (end != 0 ? end : read_clock(s->clock[other])) - s->start[other];
}

static uint64_t compete(struct shared *s, int self, clockid_t clock, uint64_t ns)
{
    pin();
    s->clock[self] = clock;
    s->ready++;
    while (s->ready < 2)
        usleep(1000);
    s->start[self] = read_clock(CLOCK_THREAD_CPUTIME_ID);
    s->ready++;
    while (s->ready < 4)
        usleep(100);
    spin(ns);
    const uint64_t other = used_by_other(s, !self);
    s->end[self] = read_clock(CLOCK_THREAD_CPUTIME_ID);
    return other;
}

static struct shared *map(const char *file)
{
    const int fd = file != NULL ? open(file, O_RDWR | O_CREAT, 0600) : -1;
    if (fd >= 0 && ftruncate(fd, sizeof(struct shared)) != 0)
        exit(1);
    return mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, fd, 0);
}

static struct shared *both;

static void *competitor(void *arg)
{
    const int self = (int)(intptr_t)arg;
    clockid_t clock;
    pthread_getcpuclockid(pthread_self(), &clock);
    const uint64_t other = compete(both, self, clock, 400000000u);
    printf("tid%d=%ld other%d=%llu\n", self, (long)syscall(SYS_gettid), self, (unsigned long long)other);
    /* The other one may still read this thread's clock. */
    while (both->end[!self] == 0)
        usleep(1000);
    return NULL;
}

static void *worker(void *arg)
{
    struct rusage r;
    const long number = (long)(intptr_t)arg;
    for (int i = 0; i < 30; i++) {
        spin(10000000u);
        usleep(500);
    }
    getrusage(RUSAGE_THREAD, &r);
    printf("tid%ld=%ld cpu%ld=%llu voluntary%ld=%ld involuntary%ld=%ld\n", number, (long)syscall(SYS_gettid), number,
           (unsigned long long)read_clock(CLOCK_THREAD_CPUTIME_ID), number, r.ru_nvcsw, number, r.ru_nivcsw);
    return NULL;
}

static void two(void *(*run)(void *))
{
    pthread_t other;
    pthread_create(&other, NULL, run, (void *)1);
    run((void *)0);
    pthread_join(other, NULL);
}

/*
 * Prints the switches of all processes as wait4(2) knows them, and as each has seen its own just before it ended (`seen_…`): the last switch of a
 * process is among the first ones or not, as its parent was slower or faster.
 */
static void forks(int count)
{
    struct rusage own, children;
    long *const seen = mmap(NULL, 2 * sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return;
    for (int i = 0; i < count; i++) {
        const pid_t pid = fork();
        if (pid == 0) {
            usleep(200);
            getrusage(RUSAGE_SELF, &own);
            seen[0] += own.ru_nvcsw;
            seen[1] += own.ru_nivcsw;
            _exit(0);
        }
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    printf("voluntary=%ld involuntary=%ld ", own.ru_nvcsw + children.ru_nvcsw, own.ru_nivcsw + children.ru_nivcsw);
    printf("seen_voluntary=%ld seen_involuntary=%ld\n", own.ru_nvcsw + seen[0], own.ru_nivcsw + seen[1]);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "coarse") == 0) {
        two(worker);
    } else if (strcmp(what, "threads") == 0) {
        both = map(NULL);
        two(competitor);
    } else if (strcmp(what, "process") == 0) {
        const int self = atoi(argv[2]);
        clockid_t clock;
        clock_getcpuclockid(getpid(), &clock);
        const uint64_t other = compete(map(argv[3]), self, clock, 400000000u);
        printf("pid=%ld other=%llu\n", (long)getpid(), (unsigned long long)other);
    } else if (strcmp(what, "forks") == 0) {
        forks(200);
    } else if (strcmp(what, "daemon") == 0) {
        if (fork() == 0) {
            setsid();
            close(0);
            close(1);
            close(2);
            sleep(3);
            _exit(0);
        }
        puts("gone");
    } else if (strcmp(what, "close") == 0) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        for (int i = 0; i < 100; i++)
            usleep(100);
        puts("closed");
    } else if (strcmp(what, "kill") == 0) {
        for (int i = 0; i < 100; i++)
            usleep(100);
        kill(getpid(), SIGKILL);
    } else if (strcmp(what, "flood") == 0) {
        for (int i = 0; i < 20000; i++)
            usleep(1);
        puts("done");
    }
    fflush(stdout);
    return 0;
}

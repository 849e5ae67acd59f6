/*
 * Programs whose context switches are known. What is printed are words NAME=NUMBER: of the threads in the parallel region, as getrusage(2) and the
 * clocks count them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <instr/instr.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long voluntary, involuntary, used_ns, wall_ns;

static long ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

struct count {
    struct rusage usage;
    long used;
    long wall;
};

static void begin(struct count *c)
{
    c->wall = ns(CLOCK_MONOTONIC);
    c->used = ns(CLOCK_THREAD_CPUTIME_ID);
    getrusage(RUSAGE_THREAD, &c->usage);
}

static void end(const struct count *c)
{
    struct count now;
    begin(&now);
    __atomic_fetch_add(&voluntary, now.usage.ru_nvcsw - c->usage.ru_nvcsw, __ATOMIC_RELAXED);
    __atomic_fetch_add(&involuntary, now.usage.ru_nivcsw - c->usage.ru_nivcsw, __ATOMIC_RELAXED);
    __atomic_fetch_add(&used_ns, now.used - c->used, __ATOMIC_RELAXED);
    __atomic_fetch_add(&wall_ns, now.wall - c->wall, __ATOMIC_RELAXED);
}

static void sleeps(int times)
{
    for (int i = 0; i < times; i++)
        usleep(500);
}

static void sleep_in_team(int times)
{
#pragma omp parallel num_threads(2)
    {
        struct count c;
        begin(&c);
        sleeps(times);
        end(&c);
    }
}

/* Two threads on the processor that the process is bound to. */
static void spin_in_team(void)
{
#pragma omp parallel num_threads(2)
    {
        struct count c;
        begin(&c);
        while (ns(CLOCK_MONOTONIC) - c.wall < 600000000)
            ;
        end(&c);
    }
}

/* More switches than there is room for, and no event. */
static void flood(int times)
{
    int ways[2][2];
    if (pipe(ways[0]) != 0 || pipe(ways[1]) != 0)
        exit(2);
#pragma omp parallel num_threads(2)
    {
        struct count c;
        char byte = 0;
        int first = 0;
#pragma omp masked
        first = 1;
        begin(&c);
        for (int i = 0; i < times; i++) {
            if (first && write(ways[0][1], &byte, 1) != 1)
                exit(2);
            if (read(ways[first][0], &byte, 1) != 1)
                exit(2);
            if (!first && write(ways[1][1], &byte, 1) != 1)
                exit(2);
        }
        end(&c);
    }
}

/* As many as a flood, but with events. */
static void chatter(int times)
{
#pragma omp parallel num_threads(2)
    {
        struct count c;
        begin(&c);
        for (int i = 0; i < times; i++) {
            instr_event(1, (uint64_t)i);
            usleep(1);
        }
        end(&c);
    }
}

static void *short_life(void *arg)
{
    instr_event(2, 1);
    return arg;
}

static void many_threads(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, short_life, NULL) != 0 || pthread_join(thread, NULL) != 0)
            exit(2);
    }
}

/* A call of perf_event_open ends the process from here on. */
static void forbid_perf(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        exit(2);
}

static int fork_and_sleep(void)
{
    const pid_t child = fork();
    if (child == 0) {
        sleep_in_team(70);
        return 0;
    }
    sleep_in_team(50);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int status = 0;
    if (strcmp(name, "sleep") == 0) {
        sleep_in_team(200);
    } else if (strcmp(name, "spin") == 0) {
        spin_in_team();
    } else if (strcmp(name, "flood") == 0) {
        flood(20000);
    } else if (strcmp(name, "chatter") == 0) {
        chatter(8000);
    } else if (strcmp(name, "threads") == 0) {
        many_threads(3000);
    } else if (strcmp(name, "close") == 0) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        chatter(4000);
    } else if (strcmp(name, "fork") == 0) {
        status = fork_and_sleep();
    } else if (strcmp(name, "stop") == 0) {
        sleeps(20);
        instr_stop();
        sleeps(100);
        instr_start(NULL);
        sleeps(30);
        instr_event(3, 1);
    } else if (strcmp(name, "filter") == 0) {
        forbid_perf();
        setenv("INSTR_TRACE", argc > 2 ? argv[2] : "", 1); /* this process has begun one */
        execl("/proc/self/exe", argv[0], "sleep", (char *)NULL);
        return 2;
    } else if (strcmp(name, "late-filter") == 0) {
        forbid_perf();
        sleep_in_team(200);
    } else if (strcmp(name, "kill") == 0) {
        chatter(4000);
        raise(9);
    } else {
        return 1;
    }
    printf("voluntary=%ld involuntary=%ld used=%ld wall=%ld\n", voluntary, involuntary, used_ns, wall_ns);
    return status;
}

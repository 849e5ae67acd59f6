/*
 * `attached MS`: for somebody who attaches to it meanwhile. Naps for MS milliseconds; then two threads that were there before compute for 400 ms and 200 ms of their
 * processor time, and 100 naps are taken; so does a thread that is made now, and a child computes for 100 ms. Then, for each of the threads: number,
 * time on a processor from the begin of that on, voluntary and other switches, as the kernel has them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int go;

struct usage {
    long tid;
    long long run;
    long voluntary;
    long other;
};

static void nap(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void compute(long ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static struct usage used(void)
{
    struct usage u = {syscall(SYS_gettid), 0, 0, 0};
    char line[256];
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", u.tid);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%lld", &u.run) != 1)
            u.run = -1;
        fclose(file);
    }
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", u.tid);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "voluntary_ctxt_switches: %ld", &u.voluntary);
        sscanf(line, "nonvoluntary_ctxt_switches: %ld", &u.other);
    }
    if (file != NULL)
        fclose(file);
    return u;
}

static void *work(void *arg)
{
    const long ms = *(const long *)arg;
    while (!go)
        nap(1);
    const struct usage before = used();
    compute(ms);
    for (int i = 0; i < 100; i++)
        nap(1);
    const struct usage after = used();
    printf("%ld %lld %ld %ld\n", after.tid, after.run - before.run, after.voluntary - before.voluntary, after.other - before.other);
    return NULL;
}

int main(int argc, char **argv)
{
    static const long MS[3] = {400, 200, 300};
    pthread_t threads[3];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)&MS[i]);
    nap(argc > 1 ? atol(argv[1]) : 1000);
    go = 1;
    pthread_create(&threads[2], NULL, work, (void *)&MS[2]);
    const pid_t child = fork();
    if (child == 0) {
        compute(100);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("child %ld\n", (long)child);
    return 0;
}

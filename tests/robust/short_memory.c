/*
 * Threads begin where the address space has no room for their windows, and have events: `EACH` of each of 2 threads. The initial thread has one before, and one after
 * there is room again, by then in a new thread.
 */
#define _GNU_SOURCE
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, STACK = 1 << 16 };

static long each;

static void *work(void *argument)
{
    for (long i = 0; i < each; i++)
        instr_event(7, (unsigned long)i);
    return argument;
}

static int start(pthread_t *thread)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    return pthread_create(thread, &attributes, work, NULL);
}

static unsigned long pages(void)
{
    unsigned long count = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &count) != 1)
        abort();
    fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    each = argc > 1 ? atol(argv[1]) : 1000;
    struct rlimit before, limit;
    pthread_t threads[THREADS];
    instr_event(7, 0);
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = pages() * (unsigned long)sysconf(_SC_PAGESIZE) + THREADS * 2 * STACK;
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < THREADS; i++)
        if (start(&threads[i]) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setrlimit(RLIMIT_AS, &before);
    /* As long as nothing is asked for again. */
    nanosleep(&(struct timespec){1, 100000000}, NULL);
    each = 3;
    if (start(&threads[0]) != 0)
        return 2;
    pthread_join(threads[0], NULL);
    puts("ended");
    return 0;
}

/*
 * Mutexes that cannot be tried: robust ones, and those that hand on priorities. Each is taken three times: by a thread that holds it for 100 ms, by main, which
 * waits for that, and by main again. How long main waits for each is printed, ns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#include "times.h"

static pthread_mutex_t robust, inherits, both;
static pthread_barrier_t ready;

static void *holds(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_barrier_wait(&ready);
    rest(100);
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void take(pthread_mutex_t *mutex, int is_robust, int is_inheriting)
{
    pthread_mutexattr_t kind;
    pthread_t thread;
    pthread_mutexattr_init(&kind);
    if (is_robust)
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    if (is_inheriting)
        pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(mutex, &kind);
    pthread_create(&thread, NULL, holds, mutex);
    pthread_barrier_wait(&ready);
    const int64_t begin = now();
    pthread_mutex_lock(mutex);
    printf("%" PRId64 "\n", now() - begin);
    pthread_mutex_unlock(mutex);
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    pthread_join(thread, NULL);
}

int main(void)
{
    pthread_barrier_init(&ready, NULL, 2);
    take(&robust, 1, 0);
    take(&inherits, 0, 1);
    take(&both, 1, 1);
    return 0;
}

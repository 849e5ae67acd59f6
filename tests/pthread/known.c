/*
 * Waits and holds of known length. A holds `lock` for 200 ms, from before B asks for it; B gets it then, holds it for 100 ms, and sets what C has waited for
 * since before A began. The times that each of them measures are printed, ns: A's hold, B's wait, B's hold, C's wait, main's joins.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#include "times.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t ready;
static int done;
static int64_t a_holds, b_waits, b_holds, c_waits;

static void *a(void *arg)
{
    pthread_mutex_lock(&lock);
    const int64_t begin = now();
    pthread_barrier_wait(&ready);
    rest(200);
    a_holds = now() - begin;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *b(void *arg)
{
    pthread_barrier_wait(&ready);
    int64_t begin = now();
    pthread_mutex_lock(&lock);
    b_waits = now() - begin;
    begin = now();
    rest(100);
    b_holds = now() - begin;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&guard);
    done = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&guard);
    return arg;
}

static void *c(void *arg)
{
    pthread_mutex_lock(&guard);
    pthread_barrier_wait(&ready);
    const int64_t begin = now();
    while (!done)
        pthread_cond_wait(&cond, &guard);
    c_waits = now() - begin;
    pthread_mutex_unlock(&guard);
    return arg;
}

int main(void)
{
    static void *(*const functions[3])(void *) = {a, b, c};
    pthread_t threads[3];
    pthread_barrier_init(&ready, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    const int64_t begin = now();
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    const int64_t joins = now() - begin;
    printf("%lld %lld %lld %lld %lld\n", (long long)a_holds, (long long)b_waits, (long long)b_holds, (long long)c_waits, (long long)joins);
    return 0;
}

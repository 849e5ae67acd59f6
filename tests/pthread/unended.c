/*
 * Waits that nothing ends but the end of their threads. Two threads are cancelled 200 ms after they began to wait, for a condition and for a semaphore;
 * a third waits for a lock for 100 ms, until the process ends. The times are printed, ns: condition, semaphore, lock.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "times.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem, begun;
static int64_t began[3];

static void begin(int thread)
{
    sem_post(&begun);
    began[thread] = now();
}

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void *for_cond(void *arg)
{
    pthread_mutex_lock(&guard);
    pthread_cleanup_push(unlock, &guard);
    begin(0);
    for (;;)
        pthread_cond_wait(&cond, &guard);
    pthread_cleanup_pop(1);
    return arg;
}

static void *for_sem(void *arg)
{
    begin(1);
    sem_wait(&sem);
    return arg;
}

static void *for_lock(void *arg)
{
    begin(2);
    pthread_mutex_lock(&lock);
    return arg;
}

static pthread_t make(void *function(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    sem_wait(&begun);
    return thread;
}

static int64_t cancel(int number, pthread_t thread)
{
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return now() - began[number];
}

int main(void)
{
    sem_init(&sem, 0, 0);
    sem_init(&begun, 0, 0);
    const pthread_t one = make(for_cond), two = make(for_sem);
    rest(200);
    const int64_t for_one = cancel(0, one), for_two = cancel(1, two);
    pthread_mutex_lock(&lock);
    make(for_lock);
    rest(100);
    printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", for_one, for_two, now() - began[2]);
    return 0;
}

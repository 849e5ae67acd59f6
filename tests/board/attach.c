/* Threads with names that record their first event at the same time, each some more. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <instr/instr.h>

#define THREADS 8

static pthread_barrier_t together;

static void *work(void *argument)
{
    char name[16];
    snprintf(name, sizeof name, "worker-%d", (int)(intptr_t)argument);
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&together);
    for (uint64_t i = 0; i < 20; i++)
        instr_event(7, i);
    pthread_barrier_wait(&together); /* none gives its window to another */
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

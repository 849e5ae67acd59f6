// usage: priorities
// On one processor, threads of two priorities (SCHED_FIFO) begin, record and end: the higher ones while a lower one does. Ends with 77 where
// the system gives no such priorities.
#define _GNU_SOURCE
#include <instr/instr.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { LOW = 5, HIGH = 20, ROUNDS = 200 };
static volatile int done;
static cpu_set_t one;

static void *record(void *argument)
{
    instr_event(1, 1);
    return argument;
}

static int begin(pthread_t *thread, void *(*body)(void *), int priority)
{
    pthread_attr_t attributes;
    struct sched_param parameter = {.sched_priority = priority};
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &parameter);
    pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
    return pthread_create(thread, &attributes, body, NULL);
}

static void *low(void *argument)
{
    pthread_t thread;
    while (!done)
        if (begin(&thread, record, LOW) == 0)
            pthread_join(thread, NULL);
    return argument;
}

static void *high(void *argument)
{
    pthread_t thread;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec pause = {0, 700000 + i * 1000};
        nanosleep(&pause, NULL);
        if (begin(&thread, record, HIGH) == 0)
            pthread_join(thread, NULL);
    }
    done = 1;
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    cpu_set_t all;
    int cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (begin(&threads[0], low, LOW) != 0)
        return 77;
    if (begin(&threads[1], high, HIGH) != 0) {
        done = 1;
        return 77;
    }
    pthread_join(threads[1], NULL);
    pthread_join(threads[0], NULL);
    puts("done");
    return 0;
}

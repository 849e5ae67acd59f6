/* Two threads that sleep so often. Prints NAME=NUMBER words. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *sleeper(void *arg)
{
    const struct timespec time = {.tv_nsec = 100000};
    const int times = (int)(intptr_t)arg;
    for (int i = 0; i < times; i++)
        nanosleep(&time, NULL);
    printf("sleeps%d=%ld\n", times, (long)syscall(SYS_gettid));
    return NULL;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, sleeper, (void *)(intptr_t)500);
    sleeper((void *)(intptr_t)1000);
    pthread_join(other, NULL);
    return 0;
}

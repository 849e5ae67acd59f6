// The initial thread uses OpenMP first, and ends before the process does. libomp would wait for ever at the end of the process, without us too.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long sum(void)
{
    long s = 0;
#pragma omp parallel num_threads(2) reduction(+ : s)
    {
#pragma omp critical
        s++;
    }
    return s;
}

static void *work(void *unused)
{
    (void)unused;
    long all = 0;
    usleep(100000);
    for (int i = 0; i < 100; i++)
        all += sum();
    printf("%ld\n", all);
    fflush(stdout);
    _exit(0);
}

int main(void)
{
    pthread_t thread;
    if (sum() != 2 || pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}

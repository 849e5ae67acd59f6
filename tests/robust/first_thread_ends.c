// Three threads run regions with critical sections. The one that used OpenMP first ends long before the others.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 3, REGIONS = 3000 };

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

static void *work(void *at)
{
    long all = sum();
    usleep(20000 * (unsigned)(long)at);
    for (int i = 0; i < REGIONS; i++)
        all += sum();
    return (void *)all;
}

int main(void)
{
    pthread_t threads[THREADS];
    long all = 0;
    for (long i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
        usleep(1000);
    }
    for (int i = 0; i < THREADS; i++) {
        void *of;
        pthread_join(threads[i], &of);
        all += (long)of;
    }
    printf("%ld\n", all);
    return 0;
}

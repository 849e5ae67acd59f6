/* OpenMP and POSIX threads in one program: two threads of POSIX have a region of two threads each, in which a mutex is taken 10 times by each thread. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *work(void *arg)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        sum += omp_get_num_threads();
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sum);
    return 0;
}

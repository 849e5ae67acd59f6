/* Three threads add to a sum 20 times each under a mutex; main waits for each by a condition. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int sum, ended;

static void *work(void *arg)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        sum += *(int *)arg;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    ended++;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    static int numbers[3] = {1, 2, 3};
    pthread_t threads[3];
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    while (ended == 0)
        pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sum);
    return 0;
}

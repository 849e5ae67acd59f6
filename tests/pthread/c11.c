/* C11 threads: four threads take a mutex 50 times each; one waits for a condition, one for a function that runs once. */
#include <stdio.h>
#include <threads.h>
#include <time.h>

static mtx_t lock, timed;
static cnd_t cond;
static once_flag once = ONCE_FLAG_INIT;
static int sum, started;

static void begins(void)
{
    puts("once");
}

static int work(void *arg)
{
    call_once(&once, begins);
    for (int i = 0; i < 50; i++) {
        mtx_lock(&lock);
        sum += *(int *)arg;
        mtx_unlock(&lock);
    }
    mtx_lock(&lock);
    started++;
    cnd_signal(&cond);
    mtx_unlock(&lock);
    return sum > 0 ? *(int *)arg : -1;
}

int main(void)
{
    static int numbers[4] = {1, 2, 3, 4};
    const struct timespec past = {1, 0};
    thrd_t threads[4];
    mtx_init(&lock, mtx_plain);
    mtx_init(&timed, mtx_timed);
    cnd_init(&cond);
    call_once(&once, begins);
    mtx_lock(&lock);
    printf("%d\n", cnd_timedwait(&cond, &lock, &past) == thrd_timedout);
    for (int i = 0; i < 4; i++)
        if (thrd_create(&threads[i], work, &numbers[i]) != thrd_success)
            return 1;
    while (started == 0)
        cnd_wait(&cond, &lock);
    mtx_unlock(&lock);
    for (int i = 0; i < 4; i++) {
        int result = 0;
        printf("%d ", thrd_join(threads[i], &result) == thrd_success);
        printf("%d\n", result);
    }
    printf("%d ", mtx_trylock(&timed) == thrd_success);
    printf("%d\n", mtx_trylock(&timed) == thrd_busy);
    printf("%d\n", mtx_timedlock(&timed, &past) == thrd_timedout);
    mtx_unlock(&timed);
    printf("%d\n", sum);
    return 0;
}

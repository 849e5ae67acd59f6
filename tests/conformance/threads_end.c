// Threads of the program's own that each use OpenMP and end: 5, with a region of 2 each. A thread is recorded once, also when the OpenMP runtime is
// the last that hears of its end.
//# Construct: parallel regions of the program's own threads
//# Flags: -pthread
//# Events: parallel_begin = 5
//# Events: implicit_begin = 5 * 2
//# Events: implicit_end = 5 * 2
//# Events: thread_begin <= 1 + 5 * 2
//# Events: thread_end <= 1 + 5 * 2
#include <pthread.h>
#include <stdio.h>

static int sum;

static void *run(void *unused)
{
    (void)unused;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        sum++;
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, NULL) != 0)
            return 1;
        (void)pthread_join(thread, NULL);
    }
    printf("%d\n", sum);
    return sum != 10;
}

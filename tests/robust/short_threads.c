// 1,000 threads that record five events each and end; every tenth also runs a parallel region of two threads.
#include <instr/instr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 1000, AT_ONCE = 8 };
static int hits;

static void *work(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;
    for (uint32_t i = 1; i <= 5; i++)
        instr_event(600, number * 10 + i);
    if (number % 10 == 0) {
#pragma omp parallel num_threads(2)
        {
#pragma omp atomic
            hits++;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[AT_ONCE];
    for (uintptr_t begin = 0; begin < THREADS; begin += AT_ONCE) {
        for (uintptr_t i = 0; i < AT_ONCE; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)(begin + i)) != 0)
                return 1;
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%d\n", hits);
    return 0;
}

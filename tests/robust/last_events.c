// Threads whose last events come from a destructor of the program's own key, made after everything else: they are the thread's.
#include <instr/instr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 20 };
static pthread_key_t key;

static void destroy(void *value)
{
    instr_event(601, (uint32_t)(uintptr_t)value);
}

static void *work(void *argument)
{
    instr_event(600, (uint32_t)(uintptr_t)argument);
    pthread_setspecific(key, argument);
    return NULL;
}

int main(void)
{
    if (pthread_key_create(&key, destroy) != 0)
        return 1;
    for (uintptr_t i = 1; i <= THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)i) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    puts("done");
    return 0;
}

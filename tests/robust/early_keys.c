// The first event of a thread comes from a signal handler, where nothing may be allocated. With -DLIBRARY: a library whose constructor
// makes more keys than a thread has places for without memory.
#ifdef LIBRARY
#include <pthread.h>

__attribute__((constructor)) static void make_keys(void)
{
    pthread_key_t key;
    for (int i = 0; i < 40; i++)
        (void)pthread_key_create(&key, NULL);
}
#else
#define _GNU_SOURCE
#include <instr/instr.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_malloc(size_t bytes);
static volatile sig_atomic_t in_handler, calls;

void *calloc(size_t count, size_t bytes)
{
    if (in_handler)
        calls++;
    return __libc_calloc(count, bytes);
}

void *malloc(size_t bytes)
{
    if (in_handler)
        calls++;
    return __libc_malloc(bytes);
}

static void handle(int signal)
{
    (void)signal;
    in_handler = 1;
    instr_event(1, 1);
    in_handler = 0;
}

static void *work(void *argument)
{
    raise(SIGUSR1);
    return argument;
}

int main(void)
{
    pthread_t thread;
    signal(SIGUSR1, handle);
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    printf("memory was asked for %d times\n", (int)calls);
    return 0;
}
#endif

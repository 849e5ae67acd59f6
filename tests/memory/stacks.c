/*
 * Threads that use their stacks to known depths.
 *   stacks painted   on stacks that the program painted; prints "painted DEPTH BYTES", by its paint
 *   stacks fresh     on stacks of the C library, as deep
 *   stacks dirty     the same, each on the stack of a deeper thread before it
 *   stacks guarded   one on a stack of the C library whose lowest pages it protects
 *   stacks deep      one thread that goes deeper than the runtime paints
 */
#define _GNU_SOURCE
#include <instr/instr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (1024 * 1024)
#define THREADS 3

static const int DEPTHS[THREADS] = {60, 200, 330};

/* A frame with something in it: words that are zero, too. */
__attribute__((noinline)) static int deep(int n)
{
    volatile char pad[301];
    memset((void *)(uintptr_t)pad, n % 3, sizeof pad);
    return n == 0 ? pad[0] : deep(n - 1) + pad[n % 301];
}

static int guarded;

/* Guard pages of the program's own. */
static void protect(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0 || pthread_attr_getstack(&attributes, &low, &bytes) != 0 ||
        mprotect(low, 4 * (size_t)getpagesize(), PROT_NONE) != 0)
        abort();
}

static void *body(void *depth)
{
    if (guarded)
        protect();
    instr_event(1, 1);
    return (void *)(intptr_t)deep((int)(intptr_t)depth);
}

static void run(void *stack, int depth)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, BYTES) != 0)
        abort();
    if (stack != NULL && pthread_attr_setstack(&attributes, stack, BYTES) != 0)
        abort();
    if (pthread_create(&thread, &attributes, body, (void *)(intptr_t)depth) != 0 || pthread_join(thread, NULL) != 0)
        abort();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "painted";
    static char *stack;
    instr_event(1, 1);
    if (posix_memalign((void **)(void *)&stack, 65536, BYTES) != 0)
        return 2;
    if (strcmp(mode, "deep") == 0) {
        run(NULL, 2000);
        return 0;
    }
    if (strcmp(mode, "guarded") == 0) {
        guarded = 1;
        run(NULL, DEPTHS[1]);
        return 0;
    }
    for (int i = 0; i < THREADS; i++) {
        size_t at = 0;
        if (strcmp(mode, "painted") == 0) {
            memset(stack, 0x5a, BYTES);
            run(stack, DEPTHS[i]);
            while (at < BYTES && stack[at] == 0x5a)
                at++;
            printf("painted %d %zu\n", DEPTHS[i], BYTES - at);
            continue;
        }
        if (strcmp(mode, "dirty") == 0)
            run(NULL, 500);
        run(NULL, DEPTHS[i]);
    }
    return 0;
}

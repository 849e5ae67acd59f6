/* The platform's part of measuring stacks, beside what is known: bounds, what is mapped, the lowest word that is not paint, painting. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/platform.h"

#define BYTES (256 * 1024)

static char *stack;
static uintptr_t low;
static uintptr_t high;

/* Frames of words that are zero, too. */
__attribute__((noinline)) static int deep(int n)
{
    volatile char pad[300];
    memset((void *)(uintptr_t)pad, n & 1, sizeof pad);
    return n == 0 ? pad[0] : deep(n - 1) + pad[n % 300];
}

static void *body(void *depth)
{
    CHECK(instr_platform_stack_bounds(&low, &high));
    CHECK((uintptr_t)&depth >= low && (uintptr_t)&depth < high);
    CHECK(deep((int)(intptr_t)depth) != -1);
    return NULL;
}

static void run(void *(*function)(void *), int depth)
{
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, BYTES) == 0);
    CHECK(pthread_create(&thread, &attributes, function, (void *)(intptr_t)depth) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(low == (uintptr_t)stack && high == (uintptr_t)stack + BYTES);
}

/* Paint of the program's own is found to the word. */
static void painted(int depth)
{
    size_t at = 0;
    uintptr_t word;
    memset(stack, 0x5a, BYTES);
    memcpy(&word, stack, sizeof word);
    run(body, depth);
    while (at < BYTES && stack[at] == 0x5a)
        at++;
    CHECK(BYTES - at > (size_t)depth * 300 && at > 0);
    const uintptr_t first = (uintptr_t)stack + at / sizeof word * sizeof word;
    CHECK(instr_platform_stack_touched((uintptr_t)stack, (uintptr_t)stack + BYTES, word) == first);
    CHECK(instr_platform_stack_touched((uintptr_t)stack + 64, first, word) == UINTPTR_MAX);
}

#define WORD ((uintptr_t)0x13579bdf)
#define FROM 4096

/* Leaves alone what is in use and what is below, and nothing else. */
static void *paints(void *depth)
{
    volatile uintptr_t mine[64];
    for (unsigned i = 0; i < 64; i++)
        mine[i] = i;
    instr_platform_stack_paint((uintptr_t)stack + FROM, WORD);
    for (unsigned i = 0; i < 64; i++)
        CHECK(mine[i] == i);
    const uintptr_t used = instr_platform_stack_touched((uintptr_t)stack + FROM, high, WORD);
    CHECK(used < (uintptr_t)mine && (uintptr_t)mine - used < 4096);
    return depth;
}

int main(void)
{
    const char here = 0;
    uintptr_t word = 1;
    CHECK(posix_memalign((void **)(void *)&stack, 65536, BYTES) == 0);
    for (int depth = 20; depth <= 200; depth += 60)
        painted(depth);
    memset(stack, 0, BYTES);
    CHECK(instr_platform_stack_touched((uintptr_t)stack, (uintptr_t)stack + BYTES, 0) == UINTPTR_MAX);
    CHECK(instr_platform_stack_word((uintptr_t)stack + 8, &word) && word == 0);
    run(paints, 0);
    CHECK(stack[FROM - 1] == 0 && memcmp(stack + FROM, &(uintptr_t){WORD}, sizeof word) == 0);
    CHECK(instr_platform_stack_bounds(&low, &high) && (uintptr_t)&here >= low && (uintptr_t)&here < high);
    const uintptr_t mapped = instr_platform_stack_mapped(low, (uintptr_t)&here);
    CHECK(mapped >= low && mapped < (uintptr_t)&here && instr_platform_stack_word((mapped + 7) & ~(uintptr_t)7, &word));
    free(stack);
    return failures != 0;
}

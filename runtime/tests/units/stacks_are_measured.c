/* The lowest used address of a stack, found because fresh stacks are zero, is what painting finds; bounds hold the stack pointer. */
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

__attribute__((noinline)) static int deep(int n)
{
    volatile char pad[300];
    memset((void *)(uintptr_t)pad, n | 1, sizeof pad);
    return n == 0 ? pad[0] : deep(n - 1) + pad[n % 300];
}

static void *body(void *depth)
{
    CHECK(instr_platform_stack_bounds(&low, &high));
    CHECK((uintptr_t)&depth >= low && (uintptr_t)&depth < high);
    CHECK(deep((int)(intptr_t)depth) != 0);
    return NULL;
}

static size_t used_of(int paint, int depth)
{
    pthread_t thread;
    pthread_attr_t attributes;
    size_t at = 0;
    memset(stack, paint, BYTES);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, BYTES) == 0);
    CHECK(pthread_create(&thread, &attributes, body, (void *)(intptr_t)depth) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(low == (uintptr_t)stack && high == (uintptr_t)stack + BYTES);
    while (at < BYTES && stack[at] == (char)paint)
        at++;
    return BYTES - at;
}

int main(void)
{
    const char here = 0;
    CHECK(posix_memalign((void **)(void *)&stack, 65536, BYTES) == 0);
    for (int depth = 20; depth <= 200; depth += 60) {
        const size_t painted = used_of(0x5a, depth);
        const size_t zero = used_of(0, depth);
        const uintptr_t found = instr_platform_stack_touched((uintptr_t)stack, (uintptr_t)stack + BYTES);
        CHECK(painted > (size_t)depth * 300 && painted < BYTES);
        CHECK(painted - zero <= 64);
        CHECK((uintptr_t)stack + BYTES - found >= zero && (uintptr_t)stack + BYTES - found - zero < sizeof(uintptr_t));
    }
    memset(stack, 0, BYTES);
    CHECK(instr_platform_stack_touched((uintptr_t)stack, (uintptr_t)stack + BYTES) == UINTPTR_MAX);
    CHECK(instr_platform_stack_bounds(&low, &high) && (uintptr_t)&here >= low && (uintptr_t)&here < high);
    free(stack);
    return failures != 0;
}

/*
 * A program that keeps its own account of the heap, under a lock, from four threads (without OpenMP one): blocks and bytes got, blocks given
 * back, the most bytes in use. Prints: allocations frees bytes high live. Two of its functions leave blocks behind.
 */
#ifdef _OPENMP
#include <omp.h>
static omp_lock_t lock;
#else
#define omp_get_thread_num() 0
#define omp_set_lock(lock) ((void)0)
#define omp_unset_lock(lock) ((void)0)
#define omp_init_lock(lock) ((void)0)
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOTS 64

static struct { unsigned long allocations, frees, bytes, live, high; } account;
static void *slots[SLOTS];
static size_t sizes[SLOTS];

static void got(size_t bytes)
{
    account.allocations++;
    account.bytes += bytes;
    account.live += bytes;
    if (account.live > account.high)
        account.high = account.live;
}

static void gone(size_t bytes)
{
    account.frees++;
    account.live -= bytes;
}

__attribute__((noinline)) static void *leak_small(void)
{
    got(24);
    return malloc(24);
}

__attribute__((noinline)) static void *leak_large(int i)
{
    got(1000u * (unsigned)i);
    return calloc((size_t)i, 1000);
}

static void *volatile kept;

/* One step on a random slot: get, give back or change. The account and the heap change together. */
static void step(uint32_t random)
{
    const unsigned slot = random % SLOTS;
    const size_t bytes = random / SLOTS % 5000;
    omp_set_lock(&lock);
    if (slots[slot] == NULL) {
        slots[slot] = random & 1u << 20 ? malloc(bytes) : calloc(1, bytes);
        sizes[slot] = bytes;
        got(bytes);
    } else if ((random >> 21) % 3 == 0) {
        const size_t old = sizes[slot];
        slots[slot] = realloc(slots[slot], bytes + 1);
        sizes[slot] = bytes + 1;
        gone(old);
        got(bytes + 1);
    } else {
        free(slots[slot]);
        slots[slot] = NULL;
        gone(sizes[slot]);
    }
    omp_unset_lock(&lock);
}

int main(void)
{
    omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
    {
        uint32_t random = 12345u + 77u * (uint32_t)omp_get_thread_num();
        for (int i = 0; i < 1500; i++) {
            random = random * 1664525u + 1013904223u;
            step(random >> 4);
        }
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i] != NULL) {
            free(slots[i]);
            gone(sizes[i]);
        }
    for (int i = 1; i <= 3; i++) {
        kept = leak_small();
        kept = leak_large(i);
    }
    /* No stdio: it gets a buffer from the heap. */
    char line[200];
    const int length = snprintf(line, sizeof line, "%lu %lu %lu %lu %lu\n", account.allocations, account.frees, account.bytes,
                                account.high, account.live);
    return write(1, line, (size_t)length) != length;
}

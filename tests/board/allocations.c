/*
 * A program that keeps its own account of the heap, on a board whose calloc() and realloc() call malloc() and free() (heap.c). One thread:
 * the host's C library allocates for others. Prints: allocations frees bytes high live.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 48

static struct { unsigned long allocations, frees, bytes, live, high; } account;
static void *slots[SLOTS];
static size_t sizes[SLOTS];

static void *got(void *address, size_t bytes)
{
    if (address == NULL)
        abort();
    account.allocations++;
    account.bytes += bytes;
    account.live += bytes;
    if (account.live > account.high)
        account.high = account.live;
    return address;
}

static void gone(size_t bytes)
{
    account.frees++;
    account.live -= bytes;
}

static void *aligned(size_t align, size_t bytes)
{
    void *address = NULL;
    if (posix_memalign(&address, align, bytes) != 0 || (uintptr_t)address % align != 0)
        abort();
    return address;
}

static void fill(unsigned slot, uint32_t random, size_t bytes)
{
    sizes[slot] = bytes;
    switch (random >> 20 & 3) {
    case 0:
        slots[slot] = got(malloc(bytes), bytes);
        break;
    case 1:
        slots[slot] = got(calloc(bytes, 1), bytes);
        break;
    case 2:
        slots[slot] = got(realloc(NULL, bytes), bytes);
        break;
    default:
        slots[slot] = got(aligned((size_t)16 << (random >> 22 & 7), bytes), bytes);
    }
    memset(slots[slot], (int)slot, bytes);
}

/* One step on a random slot: get, give back, grow or shrink. */
static void step(uint32_t random)
{
    const unsigned slot = random % SLOTS;
    const size_t bytes = 1 + random / SLOTS % 3000;
    if (slots[slot] == NULL) {
        fill(slot, random, bytes);
    } else if ((random >> 24) % 2 == 0) {
        const size_t kept = sizes[slot] < bytes ? sizes[slot] : bytes;
        gone(sizes[slot]);
        slots[slot] = got(realloc(slots[slot], bytes), bytes);
        for (size_t i = 0; i < kept; i++)
            if (((char *)slots[slot])[i] != (char)slot)
                abort();
        memset(slots[slot], (int)slot, bytes);
        sizes[slot] = bytes;
    } else {
        free(slots[slot]);
        slots[slot] = NULL;
        gone(sizes[slot]);
    }
}

int main(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    void *none = NULL;
    uint32_t random = 1;
    for (int i = 0; i < 4000; i++) {
        random = random * 1664525u + 1013904223u;
        step(random >> 3);
    }
    /* What gets nothing and gives nothing back. */
    free(NULL);
    if (malloc(huge) != NULL || calloc(huge, 4) != NULL || realloc(NULL, huge) != NULL || posix_memalign(&none, 64, huge) == 0 ||
        posix_memalign(&none, 3, 8) == 0)
        return 3;
    char line[200];
    const int length = snprintf(line, sizeof line, "%lu %lu %lu %lu %lu\n", account.allocations, account.frees, account.bytes,
                                account.high, account.live);
    return write(1, line, (size_t)length) != length;
}

/*
 * Blocks are never given back to the system but kept in a list: as many as were in use at one time. The list is touched by whoever
 * gets its lock at once; who does not takes fresh memory, or drops the block, so that nobody waits for a thread that a fork or a signal
 * has taken away.
 */
#include "core/cold.h"

#include "probes/large_block.h"

#include <stdatomic.h>
#include <stdint.h>

#include "platform/platform.h"

#define HEADER_BYTES 64u
#define GRAIN_BYTES 4096u

struct block {
    struct block *next;
    size_t bytes; /* behind the header */
};

static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct block *kept;

static bool enter(void)
{
    for (int tries = 0; tries < 100; tries++)
        if (!atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
            return true;
    return false;
}

static struct block *take(size_t bytes)
{
    if (!enter())
        return NULL;
    struct block **at = &kept;
    while (*at != NULL && (*at)->bytes < bytes)
        at = &(*at)->next;
    struct block *const found = *at;
    if (found != NULL)
        *at = found->next;
    atomic_flag_clear_explicit(&busy, memory_order_release);
    return found;
}

void *instr_large_block(size_t bytes)
{
    if (bytes > SIZE_MAX - HEADER_BYTES - GRAIN_BYTES)
        return NULL;
    struct block *b = take(bytes);
    if (b == NULL) {
        const size_t whole = (bytes + HEADER_BYTES + GRAIN_BYTES - 1) / GRAIN_BYTES * GRAIN_BYTES;
        b = instr_platform_memory(whole);
        if (b == NULL)
            return NULL;
        b->bytes = whole - HEADER_BYTES;
    }
    return (char *)b + HEADER_BYTES;
}

void instr_large_block_free(void *block)
{
    if (block == NULL)
        return;
    struct block *const b = (struct block *)(void *)((char *)block - HEADER_BYTES);
    if (!enter())
        return;
    b->next = kept;
    kept = b;
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

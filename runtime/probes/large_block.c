/*
 * Some blocks are kept in a list for the next taskloops, the others given back to the system. The list is touched by whoever gets its lock
 * at once; who does not takes fresh memory, or gives the block back, so that nobody waits for a thread that a fork or a signal has taken
 * away.
 */
#include "core/cold.h"

#include "probes/large_block.h"

#include <stdatomic.h>
#include <stdint.h>

#include "platform/platform.h"

#define HEADER_BYTES 64u
#define GRAIN_BYTES 4096u
#define MOST_KEPT 64u

struct block {
    struct block *next;
    size_t bytes; /* behind the header */
};

static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct block *kept;
static unsigned count; /* of kept blocks */

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
    if (found != NULL) {
        *at = found->next;
        count--;
    }
    atomic_flag_clear_explicit(&busy, memory_order_release);
    return found;
}

static struct block *fresh(size_t bytes)
{
    const size_t whole = (bytes + HEADER_BYTES + GRAIN_BYTES - 1) / GRAIN_BYTES * GRAIN_BYTES;
    struct instr_guest guest;
    instr_platform_enter(&guest);
    struct block *const b = instr_platform_memory(whole);
    instr_platform_leave(&guest);
    if (b != NULL)
        b->bytes = whole - HEADER_BYTES;
    return b;
}

void *instr_large_block(size_t bytes)
{
    if (bytes > SIZE_MAX - HEADER_BYTES - GRAIN_BYTES)
        return NULL;
    struct block *b = take(bytes);
    if (b == NULL)
        b = fresh(bytes);
    return b != NULL ? (char *)b + HEADER_BYTES : NULL;
}

void instr_large_block_free(void *block)
{
    if (block == NULL)
        return;
    struct block *const b = (struct block *)(void *)((char *)block - HEADER_BYTES);
    bool keep = false;
    if (enter()) {
        keep = count < MOST_KEPT;
        if (keep) {
            b->next = kept;
            kept = b;
            count++;
        }
        atomic_flag_clear_explicit(&busy, memory_order_release);
    }
    if (keep)
        return;
    struct instr_guest guest;
    instr_platform_enter(&guest);
    instr_platform_give_back(b, b->bytes + HEADER_BYTES);
    instr_platform_leave(&guest);
}

/* Memory of RTEMS: the pool that windows come from, bounds of stacks, use of the heap. Nothing is allocated. */
#define _GNU_SOURCE

#include "core/cold.h"

#include <string.h>

#include <rtems.h>
#include <rtems/malloc.h>
#include <rtems/score/heap.h>
#include <rtems/score/percpu.h>
#include <rtems/score/thread.h>

#include "core/format.h"
#include "core/static_config.h"
#include "platform/platform.h"

static size_t taken;

/* Blocks given back, for whoever needs one as large. */
static struct freed {
    struct freed *next;
    size_t bytes;
} *freed;

static void *again(size_t bytes)
{
    for (struct freed **at = &freed; *at != NULL; at = &(*at)->next)
        if ((*at)->bytes >= bytes) {
            struct freed *const found = *at;
            *at = found->next;
            return found;
        }
    return NULL;
}

void *instr_platform_memory(size_t bytes)
{
    if (instr_config.pool == NULL || bytes > instr_config.pool_bytes)
        return NULL;
    bytes = (bytes + 63u) & ~(size_t)63u;
    instr_platform_lock(INSTR_LOCK_POOL);
    char *block = again(bytes);
    if (block == NULL && bytes <= instr_config.pool_bytes - taken) {
        block = instr_config.pool + taken;
        taken += bytes;
    }
    instr_platform_unlock(INSTR_LOCK_POOL);
    if (block != NULL)
        memset(block, 0, bytes < INSTR_WINDOW_HEADER_BYTES ? bytes : INSTR_WINDOW_HEADER_BYTES);
    return block;
}

/* Windows of ended threads are used again by the core; other blocks (copies of large task data) come back here. */
void instr_platform_give_back(void *block, size_t bytes)
{
    struct freed *const f = block;
    f->bytes = bytes; /* a multiple of 64, as it was asked for */
    instr_platform_lock(INSTR_LOCK_POOL);
    f->next = freed;
    freed = f;
    instr_platform_unlock(INSTR_LOCK_POOL);
}

void *instr_platform_pool(size_t *bytes)
{
    if (taken != 0)
        return NULL;
    *bytes = instr_config.pool_bytes;
    taken = *bytes;
    return instr_config.pool;
}

/* There are no forked children. */
bool instr_platform_replace(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
    return true;
}

bool instr_platform_stack_bounds(uintptr_t *low, uintptr_t *high)
{
    const Thread_Control *executing = _Thread_Get_executing();
    if (executing == NULL)
        return false;
    *low = (uintptr_t)executing->Start.Initial_stack.area;
    *high = *low + executing->Start.Initial_stack.size;
    return *high > *low;
}

/* A stack is one block, all there. */
uintptr_t instr_platform_stack_mapped(uintptr_t low, uintptr_t high)
{
    return low < high ? low : 0;
}

bool instr_platform_stack_word(uintptr_t address, uintptr_t *word)
{
    *word = *(const uintptr_t *)address;
    return true;
}

uintptr_t instr_platform_stack_touched(uintptr_t low, uintptr_t high, uintptr_t word)
{
    for (uintptr_t at = low; at < high; at += sizeof word)
        if (*(const uintptr_t *)at != word)
            return at;
    return UINTPTR_MAX;
}

/* Up to what this function itself may use. An interrupt in between is over before the next word is written. */
#define GAP 256u

__attribute__((noinline)) void instr_platform_stack_paint(uintptr_t low, uintptr_t word)
{
    const uintptr_t high = ((uintptr_t)__builtin_frame_address(0) - GAP) & ~(sizeof high - 1);
    for (uintptr_t at = low; at < high; at += sizeof word)
        *(volatile uintptr_t *)at = word;
}

bool instr_platform_heap(struct instr_heap *heap)
{
    if (RTEMS_Malloc_Heap == NULL)
        return false;
    const uint64_t size = RTEMS_Malloc_Heap->stats.size;
    const uint64_t free = RTEMS_Malloc_Heap->stats.free_size;
    *heap = (struct instr_heap){size, size > free ? size - free : 0, free, 0};
    return true;
}

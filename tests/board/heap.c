/*
 * The heap of the board, for programs whose allocations are recorded: the malloc family as RTEMS has it (cpukit/libcsupport/src), where
 * calloc() and realloc() call malloc() and free(), which a link with --wrap leads through the runtime. The first free block that is large
 * enough is taken; use is kept in the Heap_Control.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rtems/malloc.h>

#define HEAP_BYTES (8u << 20)
#define UNIT 16u

/* In front of each block's bytes: whose they are, and where the next block begins. */
struct block {
    size_t bytes; /* of the block, this head included */
    size_t used;  /* what was asked for, plus 1; 0: free */
} __attribute__((aligned(UNIT)));

static char area[HEAP_BYTES] __attribute__((aligned(4096)));
static atomic_flag busy = ATOMIC_FLAG_INIT;
static Heap_Control heap;
Heap_Control *RTEMS_Malloc_Heap = &heap;

static struct block *at(size_t offset)
{
    return (struct block *)(void *)(area + offset);
}

static void take(void)
{
    while (atomic_flag_test_and_set(&busy))
        ;
    if (heap.stats.size != 0)
        return;
    at(0)->bytes = HEAP_BYTES;
    heap = (Heap_Control){.area_begin = (uintptr_t)area, .area_end = (uintptr_t)area + HEAP_BYTES};
    heap.stats.size = heap.stats.free_size = HEAP_BYTES;
}

/* Joins what is free behind a free block to it. */
static void join(struct block *b)
{
    for (char *next = (char *)b + b->bytes; next < area + HEAP_BYTES; next = (char *)b + b->bytes) {
        const struct block *n = (const struct block *)(void *)next;
        if (n->used != 0)
            return;
        b->bytes += n->bytes;
    }
}

/* Cuts `bytes` off the beginning of a free block that is larger. */
static void cut(struct block *b, size_t bytes)
{
    if (b->bytes <= bytes)
        return;
    struct block *rest = (struct block *)(void *)((char *)b + bytes);
    rest->bytes = b->bytes - bytes;
    rest->used = 0;
    b->bytes = bytes;
}

static void *get(size_t align, size_t size)
{
    void *found = NULL;
    if (size > HEAP_BYTES || align > HEAP_BYTES)
        return NULL;
    const size_t wanted = (sizeof(struct block) + size + UNIT - 1) / UNIT * UNIT;
    take();
    for (size_t offset = 0; offset < HEAP_BYTES && found == NULL; offset += at(offset)->bytes) {
        struct block *b = at(offset);
        if (b->used != 0)
            continue;
        join(b);
        const uintptr_t begin = (uintptr_t)(b + 1);
        const size_t skip = (align - begin % align) % align; /* a multiple of UNIT */
        if (b->bytes < skip + wanted)
            continue;
        if (skip != 0) {
            cut(b, skip);
            b = (struct block *)(void *)((char *)b + skip);
        }
        cut(b, wanted);
        b->used = size + 1;
        heap.stats.free_size -= b->bytes;
        found = b + 1;
    }
    atomic_flag_clear(&busy);
    return found;
}

void *malloc(size_t size)
{
    return get(UNIT, size);
}

void free(void *address)
{
    if (address == NULL)
        return;
    take();
    struct block *b = (struct block *)address - 1;
    heap.stats.free_size += b->bytes;
    b->used = 0;
    atomic_flag_clear(&busy);
}

void *calloc(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    void *volatile p = malloc(count * size); /* volatile: else the compiler calls calloc() */
    if (p != NULL)
        memset(p, 0, count * size);
    return p;
}

void *realloc(void *old, size_t size)
{
    if (old == NULL)
        return malloc(size);
    if (size == 0) {
        free(old);
        return NULL;
    }
    struct block *b = (struct block *)old - 1;
    const size_t room = b->bytes - sizeof *b;
    if (size <= room) {
        b->used = size + 1;
        return old;
    }
    void *p = malloc(size);
    if (p != NULL) {
        memcpy(p, old, room);
        free(old);
    }
    return p;
}

void *memalign(size_t align, size_t size)
{
    return get(align < UNIT ? UNIT : align, size);
}

int posix_memalign(void **address, size_t align, size_t size)
{
    if (align < sizeof(void *) || (align & (align - 1)) != 0)
        return EINVAL;
    void *p = memalign(align, size);
    if (p == NULL)
        return ENOMEM;
    *address = p;
    return 0;
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

void *valloc(size_t size)
{
    return memalign(4096, size);
}

void *pvalloc(size_t size)
{
    return memalign(4096, (size + 4095) / 4096 * 4096);
}

size_t malloc_usable_size(void *address)
{
    return address != NULL ? ((struct block *)address - 1)->bytes - sizeof(struct block) : 0;
}

/*
 * The heap. Each call has an event at its begin and one at its end. An address is told after it was got and before it is given back, so
 * that no other thread can be told to have it meanwhile; a realloc tells both at its end (docs/trace-format.md says what that means to
 * readers). Blocks that a call inside of another one got or gave back have one event.
 *
 * These probes are called before the program's constructors and after its end, from inside the C library (static programs) and from
 * functions that the runtime itself calls: whatever cannot be recorded is handed on, and nothing here calls anything but the real
 * function.
 */
#include "probes/memory.h"

_Thread_local struct instr_memory_inside instr_memory_inside INSTR_TLS;

struct instr_thread *instr_memory_attach(void)
{
    if (instr_process.active == INSTR_OFF || instr_is_inside())
        return NULL;
    return instr_attach();
}

/* A block that the outer function's end does not tell. */
static void told(struct instr_thread *t, uintptr_t address, uint64_t bytes, uintptr_t site)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_MEM_ALLOC, 3 + 2 * INSTR_ADDR_WORDS);
    if (p == NULL)
        return;
    p = instr_put_addr(instr_put32(p, INSTR_MEM_MALLOC), address);
    instr_put_addr(instr_put64(p, bytes), site);
    instr_close(&s);
}

void instr_memory_gets(unsigned kind, uint64_t bytes, uintptr_t site)
{
    struct instr_thread *const t = instr_memory_thread(instr_memory_inside.getting);
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_MEM_GET, 3 + INSTR_ADDR_WORDS)) == NULL)
        return;
    p = instr_put64(instr_put32(p, kind), bytes);
    instr_put_addr(p, site);
    instr_close(&s);
}

/* The call that gets or moves a block has this one. */
static void over(const void *address)
{
    struct instr_thread *const t = instr_memory_thread(0);
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_MEM_GOT, INSTR_ADDR_WORDS)) == NULL)
        return;
    instr_put_addr(p, (uintptr_t)address);
    instr_close(&s);
}

void instr_memory_waiting(const void *address)
{
    struct instr_memory_inside *const inside = &instr_memory_inside;
    const uintptr_t waited = inside->address;
    inside->address = 0;
    struct instr_thread *const t = instr_memory_thread(0);
    if (t != NULL && waited != 0 && waited != (uintptr_t)address)
        told(t, waited, inside->bytes, inside->site);
}

void instr_memory_got(const void *address, uint64_t bytes, uintptr_t site)
{
    struct instr_memory_inside *const inside = &instr_memory_inside;
    if (INSTR_LIKELY(inside->getting == 0)) {
        over(address);
    } else if (address != NULL && instr_settings.memory) {
        instr_memory_waiting(address);
        inside->address = (uintptr_t)address;
        inside->bytes = bytes;
        inside->site = site;
    }
}

/* `address` is about to be given back. */
static void gives(unsigned id, unsigned kind, const void *address)
{
    struct instr_memory_inside *const inside = &instr_memory_inside;
    if (address == NULL)
        return;
    if (inside->address == (uintptr_t)address) /* no longer waits: both are told, or none is */
        instr_memory_waiting(inside->giving != 0 ? address : NULL);
    if (inside->giving != 0)
        return;
    struct instr_thread *const t = instr_memory_thread(0);
    if (t != NULL)
        instr_event_addr(t, id, kind, address);
}

/* Bytes of `count` blocks as asked for; an overflowing product is refused by the library, and told as the largest number. */
static uint64_t product(size_t count, size_t size)
{
    return size != 0 && count > SIZE_MAX / size ? UINT64_MAX : (uint64_t)count * size;
}

/* Nothing is recorded: the calls that programs make most often return to the real function at once. */
static inline bool off(void)
{
    return !instr_settings.memory || instr_process.active == INSTR_OFF;
}

void *instr_probe_malloc(void *(*real)(size_t), uintptr_t site, size_t size)
{
    if (off())
        return real(size);
    instr_memory_gets(INSTR_MEM_MALLOC, size, site);
    void *const p = real(size);
    instr_memory_got(p, size, site);
    return p;
}

void *instr_probe_calloc(void *(*real)(size_t, size_t), uintptr_t site, size_t count, size_t size)
{
    instr_memory_gets(INSTR_MEM_CALLOC, product(count, size), site);
    instr_memory_enter();
    void *const p = real(count, size); /* RTEMS' calls malloc, ours */
    instr_memory_leave(p);
    instr_memory_got(p, product(count, size), site);
    return p;
}

static void moves(const void *old, uint64_t bytes, uintptr_t site)
{
    struct instr_thread *const t = instr_memory_thread(instr_memory_inside.getting);
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_MEM_MOVE, 2 + 2 * INSTR_ADDR_WORDS)) == NULL)
        return;
    p = instr_put64(instr_put_addr(p, (uintptr_t)old), bytes);
    instr_put_addr(p, site);
    instr_close(&s);
}

static void moved(const void *old, const void *address, uint64_t bytes, uintptr_t site)
{
    if (instr_memory_inside.getting == 0) {
        over(address);
        return;
    }
    if (address != NULL || bytes == 0)
        gives(INSTR_EV_MEM_FREE, INSTR_MEM_MALLOC, old);
    instr_memory_got(address, bytes, site);
}

void *instr_probe_realloc(void *(*real)(void *, size_t), uintptr_t site, void *old, size_t size)
{
    moves(old, size, site);
    instr_memory_enter();
    instr_memory_inside.giving++;
    void *const p = real(old, size); /* RTEMS' calls malloc and free, ours */
    instr_memory_inside.giving--;
    instr_memory_leave(p);
    moved(old, p, size, site);
    return p;
}

void *instr_probe_reallocarray(void *(*real)(void *, size_t, size_t), uintptr_t site, void *old, size_t count, size_t size)
{
    moves(old, product(count, size), site);
    instr_memory_enter();
    instr_memory_inside.giving++;
    void *const p = real(old, count, size); /* in a static program it calls realloc, ours */
    instr_memory_inside.giving--;
    instr_memory_leave(p);
    moved(old, p, product(count, size), site);
    return p;
}

void instr_probe_free(void (*real)(void *), void *address)
{
    if (off()) {
        real(address);
        return;
    }
    instr_memory_gives_back(INSTR_MEM_MALLOC, address);
    real(address);
    instr_memory_gave_back(address != NULL);
}

int instr_probe_posix_memalign(int (*real)(void **, size_t, size_t), uintptr_t site, void **address, size_t align, size_t size)
{
    instr_memory_gets(INSTR_MEM_ALIGNED, size, site);
    const int failed = real(address, align, size);
    instr_memory_got(failed == 0 ? *address : NULL, size, site);
    return failed;
}

void *instr_probe_aligned_alloc(void *(*real)(size_t, size_t), uintptr_t site, size_t align, size_t size)
{
    instr_memory_gets(INSTR_MEM_ALIGNED, size, site);
    void *const p = real(align, size);
    instr_memory_got(p, size, site);
    return p;
}

void *instr_probe_page_alloc(void *(*real)(size_t), uintptr_t site, size_t size)
{
    instr_memory_gets(INSTR_MEM_PAGES, size, site);
    void *const p = real(size);
    instr_memory_got(p, size, site);
    return p;
}

void instr_memory_gives_back(unsigned kind, const void *address)
{
    gives(INSTR_EV_MEM_GIVE, kind, address);
}

void instr_memory_gave_back(bool any)
{
    struct instr_thread *const t = any ? instr_memory_thread(instr_memory_inside.giving) : NULL;
    if (t != NULL)
        instr_event0(t, INSTR_EV_MEM_GIVEN);
}

void instr_memory_heap(void)
{
    struct instr_thread *const t = instr_memory_thread(0);
    struct instr_heap heap;
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || !instr_platform_heap(&heap) || (p = instr_open(t, &s, INSTR_EV_MEM_HEAP, 8)) == NULL)
        return;
    p = instr_put64(instr_put64(p, heap.arena), heap.used);
    instr_put64(instr_put64(p, heap.free), heap.mapped);
    instr_close(&s);
}

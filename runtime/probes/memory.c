/*
 * The heap. An address is told after it was got and before it is given back, so that no other thread can be told to have it meanwhile;
 * a realloc is one event, after the call (docs/trace-format.md says what that means to readers).
 *
 * These probes are called before the program's constructors and after its end, from inside the C library (static programs) and from
 * functions that the runtime itself calls: whatever cannot be recorded is handed on, and nothing here calls anything but the real
 * function.
 */
#include "probes/memory.h"

_Thread_local struct instr_memory_inside instr_memory_inside __attribute__((tls_model("initial-exec")));

struct instr_thread *instr_memory_attach(void)
{
    if (instr_process.active == INSTR_OFF || instr_is_inside())
        return NULL;
    return instr_attach();
}

static void told(struct instr_thread *t, unsigned kind, uintptr_t address, uint64_t bytes, uintptr_t site)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_MEM_ALLOC, 3 + 2 * INSTR_ADDR_WORDS);
    if (p == NULL)
        return;
    p = instr_put_addr(instr_put32(p, kind), address);
    instr_put_addr(instr_put64(p, bytes), site);
    instr_close(&s);
}

void instr_memory_waiting(const void *address)
{
    struct instr_memory_inside *const inside = &instr_memory_inside;
    const uintptr_t waited = inside->address;
    inside->address = 0;
    struct instr_thread *const t = instr_memory_thread(0);
    if (t != NULL && waited != 0 && waited != (uintptr_t)address)
        told(t, INSTR_MEM_MALLOC, waited, inside->bytes, inside->site);
}

void instr_memory_got(unsigned kind, const void *address, uint64_t bytes, uintptr_t site)
{
    struct instr_memory_inside *const inside = &instr_memory_inside;
    if (INSTR_LIKELY(inside->getting == 0)) {
        struct instr_thread *const t = instr_memory_thread(0);
        if (t != NULL)
            told(t, kind, (uintptr_t)address, bytes, site);
    } else if (address != NULL && instr_settings.memory) {
        instr_memory_waiting(address);
        inside->address = (uintptr_t)address;
        inside->bytes = bytes;
        inside->site = site;
    }
}

/* Bytes of `count` blocks as asked for; an overflowing product is refused by the library, and told as the largest number. */
static uint64_t product(size_t count, size_t size)
{
    return size != 0 && count > SIZE_MAX / size ? UINT64_MAX : (uint64_t)count * size;
}

void *instr_probe_malloc(void *(*real)(size_t), uintptr_t site, size_t size)
{
    void *const p = real(size);
    instr_memory_got(INSTR_MEM_MALLOC, p, size, site);
    return p;
}

void *instr_probe_calloc(void *(*real)(size_t, size_t), uintptr_t site, size_t count, size_t size)
{
    instr_memory_enter();
    void *const p = real(count, size); /* RTEMS' calls malloc, ours */
    instr_memory_leave(p);
    instr_memory_got(INSTR_MEM_CALLOC, p, product(count, size), site);
    return p;
}

static void moved(const void *old, const void *address, uint64_t bytes, uintptr_t site)
{
    if (instr_memory_inside.getting != 0) {
        if (address != NULL || bytes == 0)
            instr_memory_gives_back(INSTR_MEM_MALLOC, old);
        instr_memory_got(INSTR_MEM_MALLOC, address, bytes, site);
        return;
    }
    struct instr_thread *const t = instr_memory_thread(0);
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_MEM_REALLOC, 2 + 3 * INSTR_ADDR_WORDS)) == NULL)
        return;
    p = instr_put_addr(instr_put_addr(p, (uintptr_t)old), (uintptr_t)address);
    instr_put_addr(instr_put64(p, bytes), site);
    instr_close(&s);
}

void *instr_probe_realloc(void *(*real)(void *, size_t), uintptr_t site, void *old, size_t size)
{
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
    instr_memory_gives_back(INSTR_MEM_MALLOC, address);
    real(address);
}

int instr_probe_posix_memalign(int (*real)(void **, size_t, size_t), uintptr_t site, void **address, size_t align, size_t size)
{
    const int failed = real(address, align, size);
    instr_memory_got(INSTR_MEM_ALIGNED, failed == 0 ? *address : NULL, size, site);
    return failed;
}

void *instr_probe_aligned_alloc(void *(*real)(size_t, size_t), uintptr_t site, size_t align, size_t size)
{
    void *const p = real(align, size);
    instr_memory_got(INSTR_MEM_ALIGNED, p, size, site);
    return p;
}

void *instr_probe_page_alloc(void *(*real)(size_t), uintptr_t site, size_t size)
{
    void *const p = real(size);
    instr_memory_got(INSTR_MEM_PAGES, p, size, site);
    return p;
}

void instr_memory_gives_back(unsigned kind, const void *address)
{
    struct instr_memory_inside *const inside = &instr_memory_inside;
    if (address == NULL)
        return;
    if (inside->address == (uintptr_t)address) /* no longer waits: both are told, or none is */
        instr_memory_waiting(inside->giving != 0 ? address : NULL);
    if (inside->giving != 0)
        return;
    struct instr_thread *const t = instr_memory_thread(0);
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_MEM_FREE, 1 + INSTR_ADDR_WORDS)) == NULL)
        return;
    instr_put_addr(instr_put32(p, kind), (uintptr_t)address);
    instr_close(&s);
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

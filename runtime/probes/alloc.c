/* Memory from OpenMP allocators. An address is told after it was got and before it is given back. */
#include "core/cold.h"

#include "core/record.h"
#include "instr/probes.h"

static void got(unsigned kind, const void *address, uint64_t bytes, uintptr_t allocator)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_OMP_ALLOC, 3 + 2 * INSTR_ADDR_WORDS)) == NULL)
        return;
    p = instr_put_addr(instr_put32(p, kind), (uintptr_t)address);
    instr_put_addr(instr_put64(p, bytes), allocator);
    instr_close(&s);
}

static void gives_back(unsigned kind, const void *address)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL && address != NULL)
        instr_event_addr(t, INSTR_EV_OMP_FREE, kind, address);
}

/* n × size as asked for; an overflowing product is refused by libgomp, and told as the largest number. */
static uint64_t product(size_t n, size_t size)
{
    return size != 0 && n > SIZE_MAX / size ? UINT64_MAX : (uint64_t)n * size;
}

void *instr_probe_omp_alloc(void *(*real)(size_t, uintptr_t), size_t size, uintptr_t allocator)
{
    void *const p = real(size, allocator);
    got(INSTR_ALLOC_OMP, p, size, allocator);
    return p;
}

void *instr_probe_omp_aligned_alloc(void *(*real)(size_t, size_t, uintptr_t), unsigned kind, size_t align, size_t size,
                                    uintptr_t allocator)
{
    void *const p = real(align, size, allocator);
    got(kind, p, size, allocator);
    return p;
}

void *instr_probe_omp_calloc(void *(*real)(size_t, size_t, uintptr_t), size_t n, size_t size, uintptr_t allocator)
{
    void *const p = real(n, size, allocator);
    got(INSTR_ALLOC_OMP, p, product(n, size), allocator);
    return p;
}

void *instr_probe_omp_aligned_calloc(void *(*real)(size_t, size_t, size_t, uintptr_t), size_t align, size_t n, size_t size,
                                     uintptr_t allocator)
{
    void *const p = real(align, n, size, allocator);
    got(INSTR_ALLOC_OMP, p, product(n, size), allocator);
    return p;
}

/* A refused realloc leaves the old memory as it was; so does the trace, as what becomes of it is known only afterwards. */
void *instr_probe_omp_realloc(void *(*real)(void *, size_t, uintptr_t, uintptr_t), void *old, size_t size, uintptr_t allocator,
                              uintptr_t free_allocator)
{
    void *const p = real(old, size, allocator, free_allocator);
    if (p != NULL || size == 0)
        gives_back(INSTR_ALLOC_OMP, old);
    if (size != 0 || p != NULL)
        got(INSTR_ALLOC_OMP, p, size, allocator);
    return p;
}

void instr_probe_omp_free(void (*real)(void *, uintptr_t), unsigned kind, void *address, uintptr_t allocator)
{
    gives_back(kind, address);
    real(address, allocator);
}

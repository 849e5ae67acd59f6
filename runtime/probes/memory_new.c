/* C++'s new and delete. */
#include "probes/memory.h"

/* `new` throws when there is no memory: the counts are put back then too. */
static void got(void **address)
{
    instr_memory_leave(*address);
}

static void gave(uint32_t **giving)
{
    --**giving;
}

#define GETTING(p)                                    \
    void *p __attribute__((cleanup(got))) = NULL; \
    instr_memory_enter()

#define GIVING                                                                              \
    uint32_t *giving __attribute__((cleanup(gave))) = &instr_memory_inside.giving; \
    ++*giving

void *instr_probe_new(void *(*real)(size_t), unsigned kind, uintptr_t site, size_t size)
{
    void *p;
    {
        GETTING(inner);
        p = inner = real(size);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

void *instr_probe_new_nothrow(void *(*real)(size_t, const void *), unsigned kind, uintptr_t site, size_t size, const void *nothrow)
{
    void *p;
    {
        GETTING(inner);
        p = inner = real(size, nothrow);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

void *instr_probe_new_aligned(void *(*real)(size_t, size_t), unsigned kind, uintptr_t site, size_t size, size_t align)
{
    void *p;
    {
        GETTING(inner);
        p = inner = real(size, align);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

void *instr_probe_new_aligned_nothrow(void *(*real)(size_t, size_t, const void *), unsigned kind, uintptr_t site, size_t size,
                                      size_t align, const void *nothrow)
{
    void *p;
    {
        GETTING(inner);
        p = inner = real(size, align, nothrow);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

void instr_probe_delete(void (*real)(void *), unsigned kind, void *address)
{
    instr_memory_gives_back(kind, address);
    GIVING;
    real(address);
}

void instr_probe_delete_word(void (*real)(void *, size_t), unsigned kind, void *address, size_t word)
{
    instr_memory_gives_back(kind, address);
    GIVING;
    real(address, word);
}

void instr_probe_delete_two_words(void (*real)(void *, size_t, size_t), unsigned kind, void *address, size_t size, size_t align)
{
    instr_memory_gives_back(kind, address);
    GIVING;
    real(address, size, align);
}

void instr_probe_delete_nothrow(void (*real)(void *, const void *), unsigned kind, void *address, const void *nothrow)
{
    instr_memory_gives_back(kind, address);
    GIVING;
    real(address, nothrow);
}

void instr_probe_delete_aligned_nothrow(void (*real)(void *, size_t, const void *), unsigned kind, void *address, size_t align,
                                        const void *nothrow)
{
    instr_memory_gives_back(kind, address);
    GIVING;
    real(address, align, nothrow);
}

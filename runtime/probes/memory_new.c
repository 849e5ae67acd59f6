/* C++'s new and delete. */
#include "probes/memory.h"

/* `new` throws when there is no memory: the count is put back then too. */
static void leave(uint32_t **inside)
{
    --**inside;
}

#define INSIDE(what)                                                                                     \
    uint32_t *inside __attribute__((cleanup(leave))) = &instr_memory_inside.what; \
    ++*inside

void *instr_probe_new(void *(*real)(size_t), unsigned kind, uintptr_t site, size_t size)
{
    void *p;
    {
        INSIDE(getting);
        p = real(size);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

void *instr_probe_new_nothrow(void *(*real)(size_t, const void *), unsigned kind, uintptr_t site, size_t size, const void *nothrow)
{
    void *p;
    {
        INSIDE(getting);
        p = real(size, nothrow);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

void *instr_probe_new_aligned(void *(*real)(size_t, size_t), unsigned kind, uintptr_t site, size_t size, size_t align)
{
    void *p;
    {
        INSIDE(getting);
        p = real(size, align);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

void *instr_probe_new_aligned_nothrow(void *(*real)(size_t, size_t, const void *), unsigned kind, uintptr_t site, size_t size,
                                      size_t align, const void *nothrow)
{
    void *p;
    {
        INSIDE(getting);
        p = real(size, align, nothrow);
    }
    instr_memory_got(kind, p, size, site);
    return p;
}

/* Tells that `address` is given back. */
static void gives_back(unsigned kind, const void *address)
{
    struct instr_thread *const t = instr_memory_thread(instr_memory_inside.giving);
    if (t != NULL && address != NULL)
        instr_memory_freed(t, kind, address);
}

void instr_probe_delete(void (*real)(void *), unsigned kind, void *address)
{
    gives_back(kind, address);
    INSIDE(giving);
    real(address);
}

void instr_probe_delete_word(void (*real)(void *, size_t), unsigned kind, void *address, size_t word)
{
    gives_back(kind, address);
    INSIDE(giving);
    real(address, word);
}

void instr_probe_delete_two_words(void (*real)(void *, size_t, size_t), unsigned kind, void *address, size_t size, size_t align)
{
    gives_back(kind, address);
    INSIDE(giving);
    real(address, size, align);
}

void instr_probe_delete_nothrow(void (*real)(void *, const void *), unsigned kind, void *address, const void *nothrow)
{
    gives_back(kind, address);
    INSIDE(giving);
    real(address, nothrow);
}

void instr_probe_delete_aligned_nothrow(void (*real)(void *, size_t, const void *), unsigned kind, void *address, size_t align,
                                        const void *nothrow)
{
    gives_back(kind, address);
    INSIDE(giving);
    real(address, align, nothrow);
}

/* C++'s new and delete. */
#include "probes/memory.h"

/* A call of `new`. */
struct getting {
    void *address;
    uint64_t bytes;
    uintptr_t site;
};

static struct getting gets(unsigned kind, uint64_t bytes, uintptr_t site)
{
    instr_memory_gets(kind, bytes, site);
    instr_memory_enter();
    return (struct getting){NULL, bytes, site};
}

/* `new` throws when there is no memory: it ends then too, and the count is put back. */
static void got(struct getting *call)
{
    instr_memory_leave(call->address);
    instr_memory_got(call->address, call->bytes, call->site);
}

#define GETTING(call) struct getting call __attribute__((cleanup(got))) = gets(kind, size, site)

/* Likewise of `delete`. */
static void gave(void **address)
{
    instr_memory_inside.giving--;
    instr_memory_gave_back(*address != NULL);
}

#define GIVING                                             \
    instr_memory_gives_back(kind, address);                \
    void *given __attribute__((cleanup(gave), unused)) = address; \
    instr_memory_inside.giving++

void *instr_probe_new(void *(*real)(size_t), unsigned kind, uintptr_t site, size_t size)
{
    GETTING(call);
    return call.address = real(size);
}

void *instr_probe_new_nothrow(void *(*real)(size_t, const void *), unsigned kind, uintptr_t site, size_t size, const void *nothrow)
{
    GETTING(call);
    return call.address = real(size, nothrow);
}

void *instr_probe_new_aligned(void *(*real)(size_t, size_t), unsigned kind, uintptr_t site, size_t size, size_t align)
{
    GETTING(call);
    return call.address = real(size, align);
}

void *instr_probe_new_aligned_nothrow(void *(*real)(size_t, size_t, const void *), unsigned kind, uintptr_t site, size_t size,
                                      size_t align, const void *nothrow)
{
    GETTING(call);
    return call.address = real(size, align, nothrow);
}

void instr_probe_delete(void (*real)(void *), unsigned kind, void *address)
{
    GIVING;
    real(address);
}

void instr_probe_delete_word(void (*real)(void *, size_t), unsigned kind, void *address, size_t word)
{
    GIVING;
    real(address, word);
}

void instr_probe_delete_two_words(void (*real)(void *, size_t, size_t), unsigned kind, void *address, size_t size, size_t align)
{
    GIVING;
    real(address, size, align);
}

void instr_probe_delete_nothrow(void (*real)(void *, const void *), unsigned kind, void *address, const void *nothrow)
{
    GIVING;
    real(address, nothrow);
}

void instr_probe_delete_aligned_nothrow(void (*real)(void *, size_t, const void *), unsigned kind, void *address, size_t align,
                                        const void *nothrow)
{
    GIVING;
    real(address, align, nothrow);
}

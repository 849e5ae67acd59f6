/* Pages of the system: mmap, munmap, mremap. A failing call is handed on; it is told as one that got nothing. */
#include "core/cold.h"

#include <stdarg.h>

#include "probes/memory.h"

static void mapped(const void *address, size_t length, uintptr_t site)
{
    struct instr_thread *const t = instr_memory_thread(instr_memory_inside.getting);
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_MEM_MAP, 2 + 2 * INSTR_ADDR_WORDS)) == NULL)
        return;
    p = instr_put_addr(p, (uintptr_t)address == UINTPTR_MAX ? 0 : (uintptr_t)address);
    instr_put_addr(instr_put64(p, length), site);
    instr_close(&s);
}

void *instr_probe_mmap(void *(*real)(void *, size_t, int, int, int, long), uintptr_t site, void *address, size_t length,
                       int protection, int flags, int file, long offset)
{
    void *const p = real(address, length, protection, flags, file, offset);
    mapped(p, length, site);
    return p;
}

void *instr_probe_mmap64(void *(*real)(void *, size_t, int, int, int, int64_t), uintptr_t site, void *address, size_t length,
                         int protection, int flags, int file, int64_t offset)
{
    void *const p = real(address, length, protection, flags, file, offset);
    mapped(p, length, site);
    return p;
}

int instr_probe_munmap(int (*real)(void *, size_t), void *address, size_t length)
{
    struct instr_thread *const t = instr_memory_thread(instr_memory_inside.giving);
    struct instr_slot s;
    uint32_t *p;
    if (t != NULL && (p = instr_open(t, &s, INSTR_EV_MEM_UNMAP, 2 + INSTR_ADDR_WORDS)) != NULL) {
        instr_put64(instr_put_addr(p, (uintptr_t)address), length);
        instr_close(&s);
    }
    return real(address, length);
}

#define FIXED 2 /* MREMAP_FIXED, linux/mman.h */

void *instr_probe_mremap(void *(*real)(void *, size_t, size_t, int, ...), uintptr_t site, void *old, size_t old_length,
                         size_t new_length, int flags, va_list rest)
{
    void *const wanted = (flags & FIXED) != 0 ? va_arg(rest, void *) : NULL;
    void *const moved = (flags & FIXED) != 0 ? real(old, old_length, new_length, flags, wanted) : real(old, old_length, new_length, flags);
    struct instr_thread *const t = instr_memory_thread(instr_memory_inside.getting);
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_MEM_REMAP, 4 + 3 * INSTR_ADDR_WORDS)) == NULL)
        return moved;
    p = instr_put64(instr_put_addr(p, (uintptr_t)old), old_length);
    p = instr_put_addr(p, (uintptr_t)moved == UINTPTR_MAX ? 0 : (uintptr_t)moved);
    instr_put_addr(instr_put64(p, new_length), site);
    instr_close(&s);
    return moved;
}

// Linked with pages so large that there is a hole in front of its code, where nothing is. Spins with an address in the hole on top of its
// stack, which might be a return address, and says whether there is a hole.
#define _GNU_SOURCE
#include <instr/instr.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

static int find_hole(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_flags & PF_X && end != 0 && begin - end > 0x10000)
            *(uintptr_t *)arg = end + (begin - end) / 2;
        end = begin + segment->p_memsz;
    }
    return 1; // the program itself is the first
}

__attribute__((noinline)) static uint64_t spin(uint64_t count, uintptr_t top)
{
    uint64_t x = 0;
#ifdef __x86_64__
    __asm__ volatile("push %2\n1: add $1, %0\n cmp %1, %0\n jb 1b\n pop %2\n" : "+r"(x) : "r"(count), "r"(top) : "memory", "cc");
#else // where it is compiled, and not run
    for (volatile uintptr_t word = top; x < count; x += word == top)
        ;
#endif
    return x;
}

int main(void)
{
    uintptr_t hole = 0;
    instr_event(690, 1);
    dl_iterate_phdr(find_hole, &hole);
    printf("a hole: %d, %llu rounds\n", hole != 0, (unsigned long long)spin(1500000000u, hole));
    return 0;
}

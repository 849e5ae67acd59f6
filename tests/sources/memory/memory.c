// The heap from C: every function of the family, refused requests, memory of the C library that the program gives back.
//# Flags: -O1 --instr-memory
//# Events: mem_get{kind=2} = 1 + 1
//# Events: mem_map = 1
//# Events: mem_unmap = 3
//# Events: mem_remap = 2
//# Expect: memory.sites[get].allocations = 10
//# Expect: memory.sites[get].allocated_bytes = 10*100
//# Expect: memory.sites[get].live_high_water_bytes = 10*100
//# Expect: memory.sites[get].live_blocks = 0
//# Expect: memory.sites[grow].allocations = 3
//# Expect: memory.sites[grow].allocated_bytes = 200 + 5000 + 60*7
//# Expect: memory.sites[zeroed].allocated_bytes = 6*50
//# Expect: memory.sites[aligned].allocations = 5
//# Expect: memory.sites[aligned].allocated_bytes = 96 + 128 + 160 + 10 + 20
//# Expect: memory.sites[aligned].live_bytes = 128
//# Expect: memory.sites[empty].allocations = 1
//# Expect: memory.sites[empty].allocated_bytes = 0
//# Expect: memory.sites[refused].allocations = 0
//# Expect: memory.refused >= 3
//# Expect: memory.mapped.high_water_bytes = 65536*2
//# Expect: memory.mapped.bytes = 16384 + 16384 + 32768
//# Expect: memory.mapped.unmaps = 2
//# Expect: memory.mapped.refused = 1
//# Expect@x86_64-linux: memory.allocations = 10 + 3 + 1 + 5 + 1
//# Expect@x86_64-linux: memory.allocated_bytes = 10*100 + 200 + 5000 + 60*7 + 6*50 + 96 + 128 + 160 + 10 + 20
//# Expect@x86_64-linux: memory.frees = 10 + 3 + 1 + 4 + 1 + 1
//# Expect@x86_64-linux: memory.refused = 3
//# Expect@x86_64-linux: memory.unknown_frees = 1
//# Expect@x86_64-linux: memory.live_high_water_bytes = 5000 + 10*100
//# Expect@x86_64-linux: memory.live_bytes = 128
//# Expect@x86_64-linux: memory.reallocations = 2
//# Expect@sparc-linux,sparc64-linux,x86_64-linux-static: memory.unknown_frees = 0
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *volatile keep[10];

__attribute__((noinline)) static void get(void)
{
    for (int i = 0; i < 10; i++)
        keep[i] = malloc(100);
}

__attribute__((noinline)) static void *grow(void)
{
    char *volatile p = realloc(NULL, 200);
    memset(p, 7, 200);
    p = realloc(p, 5000);
    if (p == NULL || p[0] != 7 || p[199] != 7)
        abort();
    get();
    for (int i = 0; i < 10; i++)
        free(keep[i]);
    p = reallocarray(p, 60, 7);
    return p[199] == 7 ? p : NULL;
}

__attribute__((noinline)) static void *zeroed(void)
{
    return calloc(6, 50);
}

__attribute__((noinline)) static void aligned(void **all)
{
    if (posix_memalign(&all[0], 32, 96) != 0)
        all[0] = NULL;
    all[1] = aligned_alloc(64, 128);
    all[2] = memalign(32, 160);
    all[3] = valloc(10);
    all[4] = pvalloc(20);
}

__attribute__((noinline)) static void *empty(void)
{
    return malloc(0);
}

/* Results, errno and untouched memory are the plain program's. */
__attribute__((noinline)) static int refused(void *old)
{
    volatile size_t much = SIZE_MAX / 2 + 10;
    errno = 0;
    void *const none = malloc(much);
    const int first = errno;
    errno = 0;
    void *const still_none = realloc(old, much);
    const int second = errno;
    errno = 0;
    void *const overflow = calloc(much, 4);
    return none == NULL && still_none == NULL && overflow == NULL && first == ENOMEM && second == ENOMEM && errno == ENOMEM;
}

int main(void)
{
    void *all[5];
    void *grown = grow();
    void *zeros = zeroed();
    void *nothing = empty();
    aligned(all);
    errno = 77;
    free(NULL);
    const int good = refused(zeros);
    char *text = strdup("the library's");
    errno = 5;
    free(text);
    free(grown);
    free(zeros);
    free(nothing);
    for (int i = 0; i < 5; i++)
        if (i != 1)
            free(all[i]);
    const int kept = errno;
    char *pages = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages = mremap(pages, 65536, 131072, MREMAP_MAYMOVE);
    pages[131071] = 1;
    /* Out of the middle, no page at all, the last quarter from there on by mremap, the rest of the middle twice. */
    int unmapped = munmap(pages + 32768, 16384);
    unmapped += munmap(pages + 1, 16384) + 1;
    pages[0] = 2;
    unmapped += mremap(pages + 65536, 65536, 32768, 0) == pages + 65536 ? 0 : 1;
    unmapped += munmap(pages + 16384, 32768);
    unmapped += pages[0] + pages[65536] + pages[49152] - 2;
    printf("%d %d %d %d\n", good, kept, unmapped, ((uintptr_t)all[1] & 63) == 0);
    return 0;
}

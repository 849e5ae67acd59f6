/* OpenMP's allocation routines: arguments and results unchanged; memory is told from its first moment to its last, and never twice. */
#include "instr/probes.h"
#include "recorded.h"

static char memory[64], other[64];
static void *answer;
static uintptr_t given[4];
static unsigned count;

static void *give(unsigned n, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    count = n;
    given[0] = a, given[1] = b, given[2] = c, given[3] = d;
    return answer;
}

static void *alloc(size_t size, uintptr_t allocator) { return give(2, size, allocator, 0, 0); }
static void *alloc3(size_t a, size_t b, uintptr_t allocator) { return give(3, a, b, allocator, 0); }
static void *alloc4(size_t a, size_t b, size_t c, uintptr_t allocator) { return give(4, a, b, c, allocator); }
static void *re(void *old, size_t size, uintptr_t a, uintptr_t b) { return give(4, (uintptr_t)old, size, a, b); }
static void release(void *address, uintptr_t allocator) { (void)give(2, (uintptr_t)address, allocator, 0, 0); }

static bool was(unsigned n, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    return count == n && given[0] == a && given[1] == b && given[2] == c && given[3] == d;
}

#define GOT(p, kind, address, bytes, allocator) \
    RECORDED(p, INSTR_EV_OMP_ALLOC, kind, WORDS_ADDR(address), WORDS64(bytes), WORDS_ADDR(allocator))
#define GONE(p, kind, address) RECORDED(p, INSTR_EV_OMP_FREE, kind, WORDS_ADDR(address))

static void routines(void)
{
    const uint32_t *p = recorded_from();
    answer = memory;
    CHECK(instr_probe_omp_alloc(alloc, 40, 7) == memory && was(2, 40, 7, 0, 0));
    p = GOT(p, INSTR_ALLOC_OMP, memory, 40, 7);
    CHECK(instr_probe_omp_aligned_alloc(alloc3, INSTR_ALLOC_CLAUSE, 32, 40, 7) == memory && was(3, 32, 40, 7, 0));
    p = GOT(p, INSTR_ALLOC_CLAUSE, memory, 40, 7);
    CHECK(instr_probe_omp_calloc(alloc3, 5, 8, 7) == memory && was(3, 5, 8, 7, 0));
    p = GOT(p, INSTR_ALLOC_OMP, memory, 40, 7);
    CHECK(instr_probe_omp_aligned_calloc(alloc4, 16, 5, 8, 7) == memory && was(4, 16, 5, 8, 7));
    p = GOT(p, INSTR_ALLOC_OMP, memory, 40, 7);
    answer = NULL;
    CHECK(instr_probe_omp_calloc(alloc3, SIZE_MAX, 8, 7) == NULL && was(3, SIZE_MAX, 8, 7, 0));
    p = GOT(p, INSTR_ALLOC_OMP, NULL, UINT64_MAX, 7);
    recorded_end(p);
}

static void moves_and_ends(void)
{
    const uint32_t *p = recorded_from();
    answer = other; /* moved */
    CHECK(instr_probe_omp_realloc(re, memory, 50, 7, 9) == other && was(4, (uintptr_t)memory, 50, 7, 9));
    p = GONE(p, INSTR_ALLOC_OMP, memory);
    p = GOT(p, INSTR_ALLOC_OMP, other, 50, 7);
    answer = NULL; /* refused: the old memory lives on */
    CHECK(instr_probe_omp_realloc(re, other, 60, 7, 9) == NULL);
    p = GOT(p, INSTR_ALLOC_OMP, NULL, 60, 7);
    CHECK(instr_probe_omp_realloc(re, other, 0, 7, 9) == NULL); /* frees */
    p = GONE(p, INSTR_ALLOC_OMP, other);
    instr_probe_omp_free(release, INSTR_ALLOC_CLAUSE, memory, 7);
    CHECK(was(2, (uintptr_t)memory, 7, 0, 0));
    p = GONE(p, INSTR_ALLOC_CLAUSE, memory);
    instr_probe_omp_free(release, INSTR_ALLOC_OMP, NULL, 7);
    CHECK(was(2, 0, 7, 0, 0));
    recorded_end(p);
}

int main(void)
{
    routines();
    moves_and_ends();
    return failures != 0;
}

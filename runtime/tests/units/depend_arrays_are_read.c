/* The two layouts of libgomp's depend array, as gcc 12 writes them. */
#include "check.h"
#include "probes/depend.h"

static int x, y, z, w;

static void check(void **depend, size_t count, const uintptr_t *addresses, const uint32_t *kinds)
{
    const struct instr_depends d = instr_depends_of(depend);
    CHECK(d.total == count);
    for (size_t i = 0; i < count && i < d.total; i++) {
        uint32_t kind = 0;
        CHECK(instr_depend_entry(&d, i, &kind) == addresses[i]);
        CHECK(kind == kinds[i]);
    }
}

int main(void)
{
    /* depend(out: x) depend(inout: y) depend(in: z): total, outs, addresses with the outs first. */
    void *plain[] = {(void *)3, (void *)2, &x, &y, &z};
    check(plain, 3, (uintptr_t[]){(uintptr_t)&x, (uintptr_t)&y, (uintptr_t)&z}, (uint32_t[]){2, 2, 1});

    /* omp_all_memory is an out entry with a null address. */
    void *all[] = {(void *)2, (void *)1, NULL, &x};
    check(all, 2, (uintptr_t[]){0, (uintptr_t)&x}, (uint32_t[]){6, 1});

    /* 0, total, outs, mutexes, ins, then the addresses; what is left over are omp_depend_t objects {address, kind}. */
    void *in_object[2] = {&w, (void *)1};
    void *inoutset_object[2] = {&x, (void *)5};
    void *counted[] = {NULL, (void *)5, (void *)1, (void *)1, (void *)1, &x, &y, &z, in_object, inoutset_object};
    check(counted, 5, (uintptr_t[]){(uintptr_t)&x, (uintptr_t)&y, (uintptr_t)&z, (uintptr_t)&w, (uintptr_t)&x},
          (uint32_t[]){2, 4, 1, 1, 5});
    return failures != 0;
}

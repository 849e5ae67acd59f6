/* A calloc and a realloc made of malloc and free, as those of RTEMS are. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *calloc(size_t count, size_t size)
{
    void *const p = malloc(count * size);
    return p != NULL ? memset(p, 0, count * size) : NULL;
}

void *realloc(void *old, size_t size)
{
    if (old == NULL)
        return malloc(size);
    if (size == 0) {
        free(old);
        return NULL;
    }
    /* One block more than it needs, given back inside. */
    void *const other = malloc(size + 9);
    void *const p = malloc(size);
    const size_t had = malloc_usable_size(old);
    memcpy(p, old, had < size ? had : size);
    free(other);
    free(old);
    return p;
}

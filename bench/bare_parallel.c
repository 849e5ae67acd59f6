/* The bare wrapper for parallel regions; see bare.h. */
#include "bare.h"

struct region {
    body *function;
    void *data;
    uint64_t number;
};

void __real_GOMP_parallel(body *, void *, unsigned, unsigned);
void __wrap_GOMP_parallel(body *, void *, unsigned, unsigned);

static void region_body(void *data)
{
    struct region *region = data;
    uint64_t *event = bare_event(18, 3);
    event[1] = region->number;
    event[2] = 0;
    region->function(region->data);
    bare_event(19, 1);
}

void __wrap_GOMP_parallel(body *function, void *data, unsigned threads, unsigned flags)
{
    static _Thread_local uint64_t number;
    struct region region = {function, data, number++};
    uint64_t *event = bare_event(16, 3);
    event[1] = (uint64_t)(uintptr_t)function;
    event[2] = region.number;
    __real_GOMP_parallel(region_body, &region, threads, flags);
    event = bare_event(17, 2);
    event[1] = region.number;
}

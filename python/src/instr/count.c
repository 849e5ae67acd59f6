#include "count.h"

#include <stdlib.h>
#include <time.h>

/* What is open on a thread. Deeper calls are not counted. */
#define MOST 100000u

struct open {
    struct function *function;
    uint64_t begin_ns;
    uint64_t inner_ns;
};

static _Thread_local struct {
    struct open *entries;
    uint32_t size;
    uint32_t depth;
} stack;

static uint64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool has_room(void)
{
    if (stack.depth < stack.size)
        return true;
    const uint32_t size = stack.size == 0 ? 256 : 2 * stack.size;
    if (size > 2 * MOST)
        return false;
    struct open *const entries = realloc(stack.entries, size * sizeof *entries);
    if (entries == NULL)
        return false;
    stack.entries = entries;
    stack.size = size;
    return true;
}

void instr_count_begin(struct function *function, bool call)
{
    if (call)
        function->calls++;
    if (has_room())
        stack.entries[stack.depth++] = (struct open){function, now(), 0};
}

/* Whether it is open further out: then its time counts there. */
static bool is_outer(const struct function *function)
{
    const uint32_t from = stack.depth > 64 ? stack.depth - 64 : 0;
    for (uint32_t i = stack.depth; i-- > from;)
        if (stack.entries[i].function == function)
            return true;
    return false;
}

void instr_count_end(struct function *function)
{
    if (stack.depth == 0 || stack.entries[stack.depth - 1].function != function)
        return; /* its begin was not seen */
    const struct open open = stack.entries[--stack.depth];
    const uint64_t ns = now() - open.begin_ns;
    function->own_ns += ns > open.inner_ns ? ns - open.inner_ns : 0;
    if (!is_outer(function))
        function->total_ns += ns;
    if (stack.depth > 0)
        stack.entries[stack.depth - 1].inner_ns += ns;
}

void instr_count_forget(void)
{
    stack.depth = 0;
}

/*
 * An account of the heap that knows nothing of ours: linked to a plain program with --wrap of the same names. Counts what the program
 * and, in static programs, its libraries ask for. A function of the family that another one calls is counted when the outer one returns
 * something else, as `new` does that throws an exception. For one thread.
 * At the end it writes to standard error: allocations frees bytes high live unknown.
 */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define SLOTS (1u << 16)

static struct { const void *address; size_t bytes; } blocks[SLOTS];
static unsigned long allocations, frees, bytes_got, live, high, unknown;
static int getting, giving;

static unsigned slot_of(const void *address)
{
    unsigned at = (unsigned)((uintptr_t)address >> 3) * 2654435761u % SLOTS;
    while (blocks[at].address != NULL && blocks[at].address != address)
        at = (at + 1) % SLOTS;
    return at;
}

/* What an inner function got and an outer one returns is one block, the outer one's. */
static void enter(const void *address, size_t bytes)
{
    const unsigned at = slot_of(address);
    if (blocks[at].address != NULL) {
        allocations--;
        bytes_got -= blocks[at].bytes;
        live -= blocks[at].bytes;
    }
    blocks[at].address = address;
    blocks[at].bytes = bytes;
    allocations++;
    bytes_got += bytes;
    live += bytes;
}

static void settle(void)
{
    high = live > high ? live : high;
}

static void *got(const void *address, size_t bytes)
{
    if (address != NULL)
        enter(address, bytes);
    if (getting == 0)
        settle();
    return (void *)(uintptr_t)address;
}

static void leave(const void *address)
{
    unsigned at = slot_of(address);
    frees++;
    if (blocks[at].address == NULL) {
        unknown++;
        return;
    }
    live -= blocks[at].bytes;
    blocks[at].address = NULL;
    /* Those behind it may have gone round it. */
    for (at = (at + 1) % SLOTS; blocks[at].address != NULL; at = (at + 1) % SLOTS) {
        const void *const moved = blocks[at].address;
        const size_t bytes = blocks[at].bytes;
        blocks[at].address = NULL;
        const unsigned to = slot_of(moved);
        blocks[to].address = moved;
        blocks[to].bytes = bytes;
    }
}

static void gone(const void *address)
{
    if (giving != 0 || address == NULL)
        return;
    settle();
    leave(address);
}

static void *resized(const void *old, void *address, size_t bytes)
{
    if (getting != 0 || old == NULL)
        return getting != 0 ? address : got(address, bytes);
    if (address != NULL || bytes == 0)
        leave(old);
    return got(address, bytes);
}

/* Calls the library with a count up, which is down again when `new` throws (-fexceptions). */
static void lower(int **count)
{
    --**count;
}

#define CALL(count, value)                                  \
    __extension__({                                         \
        int *up __attribute__((cleanup(lower))) = &(count); \
        ++*up;                                              \
        value;                                              \
    })

#define REAL(result, name, ...)         \
    extern result __real_##name(__VA_ARGS__); \
    extern result __wrap_##name(__VA_ARGS__); \
    result __wrap_##name(__VA_ARGS__)

REAL(void *, malloc, size_t n) { return got(CALL(getting, __real_malloc(n)), n); }
REAL(void *, calloc, size_t c, size_t n) { return got(CALL(getting, __real_calloc(c, n)), c * n); }
REAL(void *, aligned_alloc, size_t a, size_t n) { return got(CALL(getting, __real_aligned_alloc(a, n)), n); }
REAL(void *, memalign, size_t a, size_t n) { return got(CALL(getting, __real_memalign(a, n)), n); }
REAL(void *, valloc, size_t n) { return got(CALL(getting, __real_valloc(n)), n); }
REAL(void *, pvalloc, size_t n) { return got(CALL(getting, __real_pvalloc(n)), n); }

REAL(int, posix_memalign, void **p, size_t a, size_t n)
{
    const int failed = CALL(getting, __real_posix_memalign(p, a, n));
    if (failed == 0)
        got(*p, n);
    return failed;
}

REAL(void, free, void *p)
{
    gone(p);
    giving++;
    __real_free(p);
    giving--;
}

REAL(void *, realloc, void *p, size_t n)
{
    giving++;
    void *const q = CALL(getting, __real_realloc(p, n));
    giving--;
    return resized(p, q, n);
}

REAL(void *, reallocarray, void *p, size_t c, size_t n)
{
    giving++;
    void *const q = CALL(getting, __real_reallocarray(p, c, n));
    giving--;
    return resized(p, q, c * n);
}

#ifdef CPLUSPLUS
#define NEW(name)                                                                                                                  \
    REAL(void *, name, size_t n) { return got(CALL(getting, __real_##name(n)), n); }                                               \
    REAL(void *, name##RKSt9nothrow_t, size_t n, void *t) { return got(CALL(getting, __real_##name##RKSt9nothrow_t(n, t)), n); }   \
    REAL(void *, name##St11align_val_t, size_t n, size_t a) { return got(CALL(getting, __real_##name##St11align_val_t(n, a)), n); } \
    REAL(void *, name##St11align_val_tRKSt9nothrow_t, size_t n, size_t a, void *t)                                                 \
    {                                                                                                                              \
        return got(CALL(getting, __real_##name##St11align_val_tRKSt9nothrow_t(n, a, t)), n);                                       \
    }
#define GIVE(call)     \
    {                  \
        gone(p);       \
        giving++;      \
        __real_##call; \
        giving--;      \
    }
#define DELETE(name, word)                                                                      \
    REAL(void, name, void *p) GIVE(name(p))                                                     \
    REAL(void, name##word, void *p, size_t n) GIVE(name##word(p, n))                            \
    REAL(void, name##RKSt9nothrow_t, void *p, void *t) GIVE(name##RKSt9nothrow_t(p, t))         \
    REAL(void, name##St11align_val_t, void *p, size_t a) GIVE(name##St11align_val_t(p, a))      \
    REAL(void, name##word##St11align_val_t, void *p, size_t n, size_t a)                        \
    GIVE(name##word##St11align_val_t(p, n, a))                                                  \
    REAL(void, name##St11align_val_tRKSt9nothrow_t, void *p, size_t a, void *t)                 \
    GIVE(name##St11align_val_tRKSt9nothrow_t(p, a, t))

#if __SIZEOF_SIZE_T__ == 8
NEW(_Znwm)
NEW(_Znam)
DELETE(_ZdlPv, m)
DELETE(_ZdaPv, m)
#else
NEW(_Znwj)
NEW(_Znaj)
DELETE(_ZdlPv, j)
DELETE(_ZdaPv, j)
#endif
#endif

/* A static C library asks for memory before anything of the program, and of ours, runs. */
__attribute__((constructor(101))) static void begin(void)
{
    allocations = frees = bytes_got = live = high = unknown = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        blocks[i].address = NULL;
}

__attribute__((destructor)) static void say(void)
{
    char line[200];
    const int length = snprintf(line, sizeof line, "%lu %lu %lu %lu %lu %lu\n", allocations, frees, bytes_got, high, live, unknown);
    if (write(2, line, (size_t)length) != length)
        _exit(9);
}

/*
 * What the generated stubs of libinstr-preload.so ask of library/preload.c (docs/decisions/0023): each stands in front of a function that
 * another library defines.
 */
#ifndef INSTR_LIBRARY_PRELOAD_H
#define INSTR_LIBRARY_PRELOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void instr_function(void);

/* A function that is stood in front of. */
struct instr_slot {
    const char *name;
    const char *probe_name;          /* "instr_probe_task"; "instr_call_enter" where a call is recorded as such */
    bool heap;                       /* of the heap, or of the system's pages */
    uint32_t silent;                 /* of threads and locks: up to this level of INSTR_PTHREAD a call is not recorded; known when the trace has begun */
    instr_function *_Atomic real;    /* of the first library that all of the process sees; NULL: not known, or each caller has its own */
    instr_function *_Atomic probe;   /* for calls of `real`; NULL: they are not recorded */
    instr_function *_Atomic offered; /* the runtime's probe; NULL: nothing is recorded */
};

/* The generated list. It ends with an entry without name. */
extern struct instr_slot instr_slots[] __attribute__((visibility("hidden")));

/* Where a call goes. */
struct instr_way {
    instr_function *real;
    instr_function *probe; /* NULL: to the real function alone */
};

/* How often a library that instr-cc linked came or went. */
extern const volatile uint32_t *instr_preload_joins __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"))) struct instr_way instr_preload_search(struct instr_slot *slot, const void *caller);

static inline struct instr_way instr_preload_way(struct instr_slot *slot, const void *caller)
{
    const struct instr_way way = {
        atomic_load_explicit(&slot->real, memory_order_acquire),
        atomic_load_explicit(&slot->probe, memory_order_relaxed),
    };
    if (__builtin_expect(way.real == NULL || *instr_preload_joins != 0, 0))
        return instr_preload_search(slot, caller);
    return way;
}

/* Another function of the same library, which a probe gets too; NULL: it has none. */
static inline instr_function *instr_preload_with(struct instr_slot *slot, const void *caller)
{
    instr_function *const real = atomic_load_explicit(&slot->real, memory_order_acquire);
    return __builtin_expect(real != NULL, 1) ? real : instr_preload_search(slot, caller).real;
}

/*
 * The calling thread has asked for its team's size, and not yet for its number. With these two calls a static loop begins: no other call for a number is
 * recorded (probes/static_loop.c), and programs ask for it millions of times.
 */
extern _Thread_local bool instr_preload_asked __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline struct instr_way instr_preload_size_way(struct instr_slot *slot, const void *caller)
{
    const struct instr_way way = instr_preload_way(slot, caller);
    instr_preload_asked = way.probe != NULL;
    return way;
}

/* The function that a call for a number goes to without more; NULL: there is more to do, in a function of its own, so that this costs no frame. */
static inline instr_function *instr_preload_number(const struct instr_slot *slot)
{
    instr_function *const real = atomic_load_explicit(&slot->real, memory_order_acquire);
    return __builtin_expect(real != NULL && !instr_preload_asked, 1) ? real : NULL;
}

static inline struct instr_way instr_preload_number_way(struct instr_slot *slot, const void *caller)
{
    instr_preload_asked = false;
    return instr_preload_search(slot, caller);
}

/* INSTR_PTHREAD's level. instr_start() may change it. */
extern const uint32_t *_Atomic instr_preload_level __attribute__((visibility("hidden")));

/* Whether calls of a function of threads or locks are not recorded at the level. */
static inline bool instr_preload_is_silent(const struct instr_slot *slot)
{
    return *atomic_load_explicit(&instr_preload_level, memory_order_relaxed) <= slot->silent;
}

/* The same for OpenMP's locks. */
static inline struct instr_way instr_preload_lock_way(struct instr_slot *slot, const void *caller)
{
    const struct instr_way way = {atomic_load_explicit(&slot->real, memory_order_acquire), NULL};
    return way.real != NULL && instr_preload_is_silent(slot) ? way : instr_preload_way(slot, caller);
}

/*
 * Takes an OpenMP lock that is free, where only waits are recorded: that leaves nothing (probes/mutex.c). `test`: the function that tries. False: the
 * lock is not taken, or it is to be recorded.
 */
static inline bool instr_preload_takes(const struct instr_slot *test, void *lock)
{
    int (*const real)(void *) = (int (*)(void *))atomic_load_explicit(&test->real, memory_order_acquire);
    const bool is_told = atomic_load_explicit(&test->probe, memory_order_relaxed) == NULL; /* by libomp itself */
    return real != NULL && !is_told && instr_preload_is_silent(test) && real(lock) != 0;
}

/*
 * The same for functions of threads, of which a process has one each. They are not recorded before the process makes a thread (`makes`) or the
 * trace has begun for another reason, nor for libraries that make threads for OpenMP, whose constructs tell of them.
 */
__attribute__((visibility("hidden"))) struct instr_way instr_preload_thread_search(struct instr_slot *slot, const void *caller, bool makes);

static inline struct instr_way instr_preload_thread_way(struct instr_slot *slot, const void *caller, bool makes)
{
    const struct instr_way way = {atomic_load_explicit(&slot->real, memory_order_acquire), NULL};
    if (!makes && way.real != NULL && instr_preload_is_silent(slot))
        return way;
    return instr_preload_thread_search(slot, caller, makes);
}

/* The calling thread is in a function of the dynamic linker's, for this library: what that gets of the heap is none of the program's. */
extern _Thread_local bool instr_preload_looks __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The same for functions of the heap, which may be called before there is anything else. */
__attribute__((visibility("hidden"))) struct instr_way instr_preload_heap_search(struct instr_slot *slot, const void *caller);

static inline struct instr_way instr_preload_heap_way(struct instr_slot *slot, const void *caller)
{
    const struct instr_way way = {
        atomic_load_explicit(&slot->real, memory_order_acquire),
        atomic_load_explicit(&slot->probe, memory_order_relaxed),
    };
    if (__builtin_expect(way.real == NULL || *instr_preload_joins != 0 || instr_preload_looks, 0))
        return instr_preload_heap_search(slot, caller);
    return way;
}

/* The same for functions of the system's pages, which the runtime calls too. */
__attribute__((visibility("hidden"))) struct instr_way instr_preload_pages_way(struct instr_slot *slot, const void *caller);

/* Calls without a probe of their own, as in instr/probes.h. */
struct instr_call;
__attribute__((visibility("hidden"))) void instr_call_enter(const struct instr_call *call, const char *name, uint32_t count, const uint64_t *args);
__attribute__((visibility("hidden"))) void instr_call_leave(const struct instr_call *call);

#endif

/*
 * The heap's functions, in the library that `instr run` preloads with INSTR_MEMORY=1 (docs/decisions/0040). In libinstr-preload.so, which has no
 * stubs of them, this file does nothing.
 *
 * These stubs are called before any constructor, by the dynamic linker, by what dlsym() calls, and by the runtime itself. So the real functions are
 * read from the symbol tables of the loaded modules, at the first call, while there is one thread: that takes no lock and no memory.
 */
#define _GNU_SOURCE
#include "library/preload_parts.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "library/scope.h"
#include "library/table.h"

/* C++ libraries that not all of the process sees, and functions. What is beyond is looked for with each call. */
#define LIBRARIES 8u
#define SLOTS 512u

/* This library's own; linkers make it. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* A C++ library that came with a module which was loaded later. It may go with that: `base` is looked at again with each call. */
struct instr_cxx {
    const void *base;
    instr_function *_Atomic real[SLOTS];
};

static struct instr_cxx libraries[LIBRARIES];
static _Atomic uint32_t library_count;
static atomic_flag searching = ATOMIC_FLAG_INIT;

enum { NOT_YET, LOOKING, FOUND };
static atomic_int looked;
static bool has_slots;
static bool is_foreign; /* a module in front of this library has a malloc */

static struct instr_place runtime; /* calls of mmap() that come from here are none of the program's */

/* Looks for all functions of the heap in a module behind this library. */
static void look_in(const struct link_map *map)
{
    for (struct instr_slot *slot = instr_slots; slot->name != NULL; slot++) {
        if (!slot->heap || atomic_load_explicit(&slot->real, memory_order_relaxed) != NULL)
            continue;
        const ElfW(Sym) *const symbol = instr_definition(map, slot->name);
        instr_function *real = NULL;
        if (symbol != NULL)
            *(void **)&real = instr_address_of(map, symbol);
        if (real != NULL)
            atomic_store_explicit(&slot->real, real, memory_order_release);
    }
}

/* The modules in the order in which they were loaded: so the dynamic linker looks through them, too. */
static void look(void)
{
    const struct link_map *map = _r_debug.r_map;
    for (; map != NULL && map->l_ld != _DYNAMIC; map = map->l_next)
        is_foreign = is_foreign || instr_definition(map, "malloc") != NULL || instr_definition(map, "free") != NULL;
    for (map = map != NULL ? map->l_next : NULL; map != NULL; map = map->l_next)
        look_in(map);
    for (const struct instr_slot *slot = instr_slots; slot->name != NULL; slot++)
        has_slots = has_slots || slot->heap;
}

static void look_once(void)
{
    int expected = NOT_YET;
    if (looked == FOUND)
        return;
    if (atomic_compare_exchange_strong(&looked, &expected, LOOKING)) {
        look();
        looked = FOUND;
    }
    while (looked != FOUND)
        (void)sched_yield();
}

bool instr_preload_has_heap(void)
{
    look_once();
    return has_slots && !is_foreign;
}

bool instr_preload_heap_is_foreign(void)
{
    look_once();
    return has_slots && is_foreign;
}

void instr_preload_record_heap(void)
{
    struct instr_place unknown;
    const struct instr_place *const place = instr_preload_place_of((uintptr_t)instr_preload_runtime(), &unknown);
    runtime.low = place->low;
    runtime.high = place->high;
    for (struct instr_slot *slot = instr_slots; slot->name != NULL; slot++)
        if (slot->heap)
            atomic_store_explicit(&slot->probe, slot->offered, memory_order_relaxed);
}

/* ---- C++ libraries that were loaded later ---- */

static instr_function *real_of(const char *name)
{
    for (const struct instr_slot *slot = instr_slots; slot->name != NULL; slot++)
        if (strcmp(slot->name, name) == 0)
            return slot->real;
    return NULL;
}

static void *new_aligned(size_t size, size_t alignment)
{
    void *(*const real)(size_t, size_t) = (void *(*)(size_t, size_t))real_of("aligned_alloc");
    return real(alignment, size);
}

/* For modules that call C++'s functions only where there are any, by a weak reference: this library's answers it. */
static instr_function *without_cxx(const char *name)
{
    if (strncmp(name, "_Zd", 3) == 0)
        return real_of("free");
    if (strstr(name, "align_val_t") != NULL)
        return (instr_function *)new_aligned;
    return strncmp(name, "_Zn", 3) == 0 ? real_of("malloc") : NULL;
}

/* The function in a C++ library that is known and still there, or NULL. */
static instr_function *known(const struct instr_cxx *cxx, size_t number)
{
    instr_function *const real = cxx != NULL && number < SLOTS ? atomic_load_explicit(&cxx->real[number], memory_order_relaxed) : NULL;
    return real != NULL && instr_preload_base_of((const void *)(uintptr_t)real) == cxx->base ? real : NULL;
}

/* Keeps a function of the C++ library that a module sees. */
static void keep(struct instr_place *place, size_t number, instr_function *real)
{
    const void *const base = instr_preload_base_of((const void *)(uintptr_t)real);
    struct instr_cxx *cxx = NULL;
    if (number >= SLOTS || atomic_flag_test_and_set_explicit(&searching, memory_order_acquire))
        return;
    const uint32_t count = atomic_load_explicit(&library_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count && cxx == NULL; i++)
        if (libraries[i].base == base)
            cxx = &libraries[i];
    if (cxx == NULL && count < LIBRARIES) {
        cxx = &libraries[count];
        cxx->base = base;
        atomic_store_explicit(&library_count, count + 1, memory_order_release);
    }
    if (cxx != NULL) {
        atomic_store_explicit(&cxx->real[number], real, memory_order_relaxed);
        atomic_store_explicit(&place->cxx, cxx, memory_order_release);
    }
    atomic_flag_clear_explicit(&searching, memory_order_release);
}

/* What a module sees that was loaded later. Another one may have been at its place before, so that it is asked itself first. */
static instr_function *seen_from(const struct instr_slot *slot, struct instr_place *place, uintptr_t caller)
{
    const size_t number = (size_t)(slot - instr_slots);
    const struct link_map *const map = instr_preload_map_of(caller);
    const ElfW(Sym) *const own = map != NULL ? instr_definition(map, slot->name) : NULL;
    instr_function *real = NULL;
    if (own != NULL) {
        *(void **)&real = instr_address_of(map, own);
        return real;
    }
    struct instr_place other = {.map = map, .own = place->own};
    if (place->map != map)
        place = &other;
    real = known(atomic_load_explicit(&place->cxx, memory_order_acquire), number);
    if (real != NULL)
        return real;
    const struct link_map *const from = instr_preload_seer_of(place, slot->name);
    real = from != NULL ? instr_preload_see(from, slot->name) : NULL;
    if (real == NULL)
        return without_cxx(slot->name);
    keep(place, number, real);
    return real;
}

/* ---- where a call goes ---- */

struct instr_way instr_preload_heap_search(struct instr_slot *slot, const void *caller)
{
    const int error = errno;
    look_once();
    struct instr_way way = {
        atomic_load_explicit(&slot->real, memory_order_acquire),
        atomic_load_explicit(&slot->probe, memory_order_relaxed),
    };
    if (way.real == NULL || (*instr_preload_joins != 0 && !instr_preload_looks)) {
        struct instr_place unknown;
        struct instr_place *const place = instr_preload_place_of((uintptr_t)caller, &unknown);
        if (way.real == NULL)
            way.real = seen_from(slot, place, (uintptr_t)caller);
        if (place->own)
            way.probe = NULL;
    }
    if (instr_preload_looks)
        way.probe = NULL;
    errno = error;
    return way;
}

struct instr_way instr_preload_pages_way(struct instr_slot *slot, const void *caller)
{
    struct instr_way way = instr_preload_heap_way(slot, caller);
    if ((uintptr_t)caller >= runtime.low && (uintptr_t)caller < runtime.high)
        way.probe = NULL;
    return way;
}

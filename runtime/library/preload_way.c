/*
 * Where a call of a stub in libinstr-preload.so goes (library/preload.c).
 *
 * The real function of a call is the one that the caller would have got: the process's first one, or, where OpenMP came with a library that was
 * loaded later, that of the caller's own libraries. A process may have several OpenMP libraries, of which each keeps its own numbers of threads.
 */
#define _GNU_SOURCE
#include "library/preload_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "library/scope.h"
#include "library/table.h"

/* Modules that call OpenMP and see another OpenMP library than the whole process does, or are to be told apart from others; OpenMP libraries;
 * functions. What is beyond is looked for with each call. */
#define PLACES 128u
#define PROVIDERS 8u
#define SLOTS 512u

/* An OpenMP library that not all of the process sees. */
struct instr_provider {
    const void *base;
    bool llvm;
    atomic_bool filled;
    instr_function *_Atomic real[SLOTS];
};

static struct instr_place places[PLACES];
static _Atomic uint32_t place_count;
static struct instr_provider providers[PROVIDERS];
static _Atomic uint32_t provider_count;
static atomic_flag searching = ATOMIC_FLAG_INIT; /* whoever adds to these */

_Thread_local bool instr_preload_looks;
_Thread_local bool instr_preload_asked;

/* ---- real functions ---- */

/*
 * glibc 2.35 and later find modules without the loader's lock. A thread of a team must not wait for that: a constructor of a library, for which
 * dlopen() holds it, may wait for the team.
 */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object
static bool find_object(const void *address, struct dl_find_object *found)
{
    return _dl_find_object != NULL && _dl_find_object((void *)(uintptr_t)address, found) == 0;
}
#endif

const void *instr_preload_base_of(const void *address)
{
    Dl_info info;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object found;
    if (find_object(address, &found))
        return found.dlfo_map_start;
#endif
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

const struct link_map *instr_preload_map_of(uintptr_t address)
{
    struct link_map *map = NULL;
    Dl_info info;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object found;
    if (find_object((const void *)address, &found))
        return found.dlfo_link_map;
#endif
    return dladdr1((const void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

/* What all of the process sees behind this library. A search in vain gets memory for a message: both are given back at once. */
static void *next(const char *name)
{
    const bool before = instr_preload_looks;
    instr_preload_looks = true;
    void *const found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        (void)dlerror(); /* the program is not to read of it */
        (void)dlerror();
    }
    instr_preload_looks = before;
    return found;
}

instr_function *instr_preload_see(const struct link_map *from, const char *name)
{
    instr_function *found = NULL;
    if (from != NULL) {
        *(void **)&found = instr_seen_from(from, instr_preload_map_of((uintptr_t)&instr_preload_self), name);
        return found;
    }
    *(void **)&found = next(name);
    if (found != NULL && instr_preload_base_of((const void *)(uintptr_t)found) == instr_preload_base_of(&instr_preload_self))
        found = NULL;
    return found;
}

bool instr_preload_is_llvm(instr_function *function, const struct link_map *from)
{
    instr_function *const entry = instr_preload_see(from, "__kmpc_fork_call");
    return entry != NULL && instr_preload_base_of((const void *)(uintptr_t)entry) == instr_preload_base_of((const void *)(uintptr_t)function);
}

/* OpenMP's functions for programs that call them only where there is an OpenMP library, by a weak reference: this library's answers it. */
static void nothing(void)
{
}

static int zero(void)
{
    return 0;
}

static int one(void)
{
    return 1;
}

static instr_function *without_openmp(const char *name)
{
    static const struct {
        const char *begin;
        instr_function *function;
    } ANSWERS[] = {
        {"omp_get_num_threads", (instr_function *)one},
        {"omp_get_thread_num", (instr_function *)zero},
        {"omp_test_", (instr_function *)one},
        {"omp_set_", nothing},
        {"omp_unset_", nothing},
        {"omp_init_", nothing},
        {"omp_destroy_", nothing},
    };
    for (unsigned i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++)
        if (strncmp(name, ANSWERS[i].begin, strlen(ANSWERS[i].begin)) == 0)
            return ANSWERS[i].function;
    return NULL;
}

static bool is_openmp(const struct instr_slot *slot)
{
    return slot->name[0] != '_';
}

/* ---- where a call goes ---- */

struct wanted {
    uintptr_t address;
    uintptr_t low;
    uintptr_t high;
};

static int find_module(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct wanted *const wanted = arg;
    uintptr_t low = UINTPTR_MAX;
    uintptr_t high = 0;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        low = at < low ? at : low;
        high = at + segment->p_memsz > high ? at + segment->p_memsz : high;
    }
    if (wanted->address < low || wanted->address >= high)
        return 0;
    wanted->low = low;
    wanted->high = high;
    return 1;
}

static bool holds(const struct instr_place *place, uintptr_t address)
{
    return address >= place->low && address < place->high;
}

static bool is_own(const struct instr_place *place)
{
    const struct instr_table *const shared = instr_preload_runtime();
    for (unsigned i = 0; shared != NULL && i < INSTR_LIBRARY_PLACES; i++)
        if (shared->libraries[i] != 0 && holds(place, shared->libraries[i]))
            return true;
    return shared != NULL && holds(place, (uintptr_t)shared);
}

/* The module as it was looked at before libraries came or went, or NULL. */
static struct instr_place *same_place(const struct instr_place *place, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (places[i].low == place->low && places[i].high == place->high && places[i].map == place->map)
            return &places[i];
    return NULL;
}

struct instr_place *instr_preload_place_of(uintptr_t caller, struct instr_place *unknown)
{
    const uint32_t joins = *instr_preload_joins;
    const uint32_t count = atomic_load_explicit(&place_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (holds(&places[i], caller) && places[i].joins == joins)
            return &places[i];
    struct wanted wanted = {.address = caller};
    struct instr_place *place = unknown;
    *unknown = (struct instr_place){.joins = joins, .map = instr_preload_map_of(caller)};
    if (dl_iterate_phdr(find_module, &wanted) == 0 || unknown->map == NULL)
        return unknown;
    unknown->low = wanted.low;
    unknown->high = wanted.high;
    unknown->own = is_own(unknown);
    unknown->openmp = instr_definition(unknown->map, "GOMP_parallel") != NULL || instr_definition(unknown->map, "__kmpc_fork_call") != NULL;
    struct instr_place *const before = same_place(unknown, count);
    if (before != NULL)
        unknown->provider = before->provider;
    if (!atomic_flag_test_and_set_explicit(&searching, memory_order_acquire)) {
        const uint32_t at = atomic_load_explicit(&place_count, memory_order_relaxed);
        if (before != NULL) {
            place = before;
            place->own = unknown->own;
            place->openmp = unknown->openmp;
            atomic_store_explicit(&place->joins, joins, memory_order_release);
        } else if (at < PLACES) {
            place = &places[at];
            *place = *unknown;
            atomic_store_explicit(&place_count, at + 1, memory_order_release);
        }
        atomic_flag_clear_explicit(&searching, memory_order_release);
    }
    return place;
}

/* The libraries for which the runtime calls it come first, then any. */
const struct link_map *instr_preload_seer_of(const struct instr_place *place, const char *name)
{
    const struct instr_table *const shared = instr_preload_runtime();
    if (place->map != NULL && instr_preload_see(place->map, name) != NULL)
        return place->map;
    for (unsigned i = 0; place->own && shared != NULL && i < INSTR_LIBRARY_PLACES; i++) {
        const struct link_map *const map = shared->libraries[i] != 0 ? instr_preload_map_of(shared->libraries[i]) : NULL;
        if (map != NULL && instr_preload_see(map, name) != NULL)
            return map;
    }
    const struct link_map *map = instr_preload_map_of((uintptr_t)&instr_preload_self);
    while (map != NULL && map->l_prev != NULL)
        map = map->l_prev;
    while (map != NULL && instr_preload_see(map, name) == NULL)
        map = map->l_next;
    return map;
}

/* The one of the first `count` OpenMP libraries that is loaded there, or NULL. */
static struct instr_provider *provider_at(const void *base, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (providers[i].base == base)
            return &providers[i];
    return NULL;
}

/* The OpenMP library that a function is of, or NULL: there are too many. */
static struct instr_provider *provider_of(instr_function *real, const struct link_map *from)
{
    const void *const base = instr_preload_base_of((const void *)(uintptr_t)real);
    const uint32_t count = atomic_load_explicit(&provider_count, memory_order_acquire);
    struct instr_provider *made = provider_at(base, count);
    if (made != NULL)
        return made;
    if (!atomic_flag_test_and_set_explicit(&searching, memory_order_acquire)) {
        const uint32_t at = atomic_load_explicit(&provider_count, memory_order_relaxed);
        if (at < PROVIDERS && at == count) {
            Dl_info info;
            made = &providers[at];
            made->base = base;
            made->llvm = instr_preload_is_llvm(real, from);
            /* It stays: its functions are kept here. */
            instr_preload_looks = true;
            if (dladdr((const void *)(uintptr_t)real, &info) != 0)
                (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
            instr_preload_looks = false;
            atomic_store_explicit(&provider_count, at + 1, memory_order_release);
        }
        atomic_flag_clear_explicit(&searching, memory_order_release);
    }
    return made;
}

/* The way to an OpenMP library that the whole process sees, or {NULL, NULL}. */
static struct instr_way for_all(struct instr_slot *slot)
{
    struct instr_way way = {slot->real, slot->probe};
    if (way.real != NULL)
        return way;
    way.real = instr_preload_see(NULL, slot->name);
    if (way.real == NULL)
        return way;
    if (is_openmp(slot))
        instr_preload_begin(NULL, instr_preload_is_llvm(way.real, NULL));
    way.probe = instr_preload_is_llvm(way.real, NULL) ? NULL : slot->offered;
    if (instr_preload_state == INSTR_PRELOAD_BEGUN) {
        atomic_store_explicit(&slot->probe, way.probe, memory_order_relaxed);
        atomic_store_explicit(&slot->real, way.real, memory_order_release);
    }
    return way;
}

static bool is_for_teams(const struct instr_slot *slot)
{
    return strncmp(slot->name, "GOMP_", 5) == 0 || strncmp(slot->name, "omp_", 4) == 0;
}

void instr_preload_find_all(bool gomp)
{
    for (struct instr_slot *slot = instr_slots; slot->name != NULL; slot++)
        if (strncmp(slot->name, "pthread_", 8) == 0) {
            if (atomic_load_explicit(&slot->real, memory_order_relaxed) == NULL)
                atomic_store_explicit(&slot->real, instr_preload_see(NULL, slot->name), memory_order_release);
        } else if (gomp && is_for_teams(slot)) {
            (void)for_all(slot);
        }
}

/* A known OpenMP library that the module sees: when that was found, not all of the process saw it. */
static struct instr_provider *seen_provider(const struct instr_slot *slot, const struct instr_place *place)
{
    const uint32_t count = atomic_load_explicit(&provider_count, memory_order_acquire);
    const struct link_map *const from = count > 0 ? instr_preload_seer_of(place, slot->name) : NULL;
    instr_function *const real = from != NULL ? instr_preload_see(from, slot->name) : NULL;
    return real != NULL ? provider_at(instr_preload_base_of((const void *)(uintptr_t)real), count) : NULL;
}

/* The way from a module whose OpenMP library is known, or {NULL, NULL}. */
static struct instr_way known(const struct instr_slot *slot, struct instr_place *place)
{
    const size_t number = (size_t)(slot - instr_slots);
    struct instr_way way = {NULL, NULL};
    struct instr_provider *provider = place->provider;
    if (provider == NULL)
        place->provider = provider = seen_provider(slot, place);
    if (provider != NULL && number < SLOTS)
        way.real = atomic_load_explicit(&provider->real[number], memory_order_relaxed);
    if (way.real != NULL)
        way.probe = provider->llvm ? NULL : slot->offered;
    return way;
}

/* What teams call, as instr_preload_find_all() does. */
static void fill(struct instr_provider *provider, const struct link_map *from)
{
    for (size_t i = 0; i < SLOTS && instr_slots[i].name != NULL; i++)
        if (is_for_teams(&instr_slots[i]))
            atomic_store_explicit(&provider->real[i], instr_preload_see(from, instr_slots[i].name), memory_order_relaxed);
}

/* The way from a module whose OpenMP library only its own libraries see. */
static struct instr_way for_place(struct instr_slot *slot, struct instr_place *place)
{
    const size_t number = (size_t)(slot - instr_slots);
    struct instr_way way = {NULL, NULL};
    struct instr_provider *provider = place->provider;
    const struct link_map *const from = instr_preload_seer_of(place, slot->name);
    way.real = from != NULL ? instr_preload_see(from, slot->name) : without_openmp(slot->name);
    if (from == NULL || way.real == NULL)
        return way;
    if (provider == NULL)
        place->provider = provider = provider_of(way.real, from);
    const bool llvm = provider != NULL ? provider->llvm : instr_preload_is_llvm(way.real, from);
    if (is_openmp(slot))
        instr_preload_begin(from, llvm);
    if (provider != NULL && number < SLOTS) { /* the runtime has begun, so that its probes are known */
        atomic_store_explicit(&provider->real[number], way.real, memory_order_relaxed);
        if (is_openmp(slot) && !provider->filled) {
            provider->filled = true;
            fill(provider, from);
        }
    }
    way.probe = llvm ? NULL : slot->offered;
    return way;
}

struct instr_way instr_preload_search(struct instr_slot *slot, const void *caller)
{
    const int error = errno;
    struct instr_way way = {slot->real, slot->probe};
    if (way.real == NULL || *instr_preload_joins != 0) {
        struct instr_place unknown;
        struct instr_place *const place = instr_preload_place_of((uintptr_t)caller, &unknown);
        if (way.real == NULL)
            way = known(slot, place); /* before dlsym(), for which a team may have to wait */
        if (way.real == NULL)
            way = for_all(slot);
        if (way.real == NULL)
            way = for_place(slot, place);
        if (place->own)
            way.probe = NULL;
    }
    errno = error;
    return way;
}

/*
 * Whether calls of threads' functions from a place in the program are recorded. It is asked with each call, so that answers are kept, in one word each:
 * the address of the call, 48 bits; how often libraries came or went, 15 bits; and the answer.
 */
#define ANSWERS 1024u
static _Atomic uint64_t answers[ANSWERS];

static bool is_recorded_from(const void *caller)
{
    const uintptr_t address = (uintptr_t)caller;
    const uint64_t key = (uint64_t)address << 16 | (uint64_t)(*instr_preload_joins & 0x7fff) << 1;
    _Atomic uint64_t *const kept = &answers[(address ^ address >> 10) % ANSWERS];
    const uint64_t answer = atomic_load_explicit(kept, memory_order_relaxed);
    if (__builtin_expect((answer & ~(uint64_t)1) == key, 1))
        return (answer & 1) != 0;
    const int error = errno;
    struct instr_place unknown;
    const struct instr_place *const place = instr_preload_place_of(address, &unknown);
    const bool is_recorded = !place->own && !place->openmp;
    /* Code without a module may make way for other code; larger addresses have no room. */
    if (place->map != NULL && (uint64_t)address >> 47 == 0)
        atomic_store_explicit(kept, key | is_recorded, memory_order_relaxed);
    errno = error;
    return is_recorded;
}

struct instr_way instr_preload_thread_search(struct instr_slot *slot, const void *caller, bool makes)
{
    struct instr_way way = {atomic_load_explicit(&slot->real, memory_order_acquire), NULL};
    instr_function *const offered = atomic_load_explicit(&slot->offered, memory_order_relaxed);
    if (__builtin_expect(way.real != NULL && offered == NULL && (!makes || instr_preload_state == INSTR_PRELOAD_BEGUN), 0))
        return way; /* nothing is recorded, or not yet */
    if (__builtin_expect(way.real == NULL, 0)) {
        const int error = errno;
        way.real = instr_preload_see(NULL, slot->name);
        if (way.real != NULL) {
            atomic_store_explicit(&slot->real, way.real, memory_order_release);
        } else { /* C++'s library came with one that was loaded later */
            struct instr_place unknown;
            const struct instr_place *const place = instr_preload_place_of((uintptr_t)caller, &unknown);
            const struct link_map *const from = instr_preload_seer_of(place, slot->name);
            way.real = from != NULL ? instr_preload_see(from, slot->name) : NULL;
        }
        errno = error;
    }
    if (makes && instr_preload_state != INSTR_PRELOAD_BEGUN && is_recorded_from(caller)) {
        const int error = errno;
        instr_preload_begin(NULL, false);
        errno = error;
    }
    if (is_recorded_from(caller))
        way.probe = atomic_load_explicit(&slot->offered, memory_order_relaxed);
    return way;
}

/*
 * libinstr-preload.so, which `instr run` preloads into programs that nobody built to be traced (docs/decisions/0023). Its generated stubs have the
 * names of OpenMP's functions and stand in front of them; this file finds the real ones and the runtime, libinstr.so.
 *
 * The real function of a call is the one that the caller would have got: the process's first one, or, where OpenMP came with a library that was
 * loaded later, that of the caller's own libraries. A process may have several OpenMP libraries, of which each keeps its own numbers of threads.
 *
 * Nothing is recorded here where somebody else does it: where the program has the runtime inside, for calls from libraries that instr-cc
 * linked, and for calls of libomp, which tells the runtime by itself (OMPT).
 */
#define _GNU_SOURCE
#define INSTR_IMPLEMENTATION
#include "instr/instr.h"

#include "library/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "library/program.h"
#include "library/scope.h"
#include "library/table.h"
#include "ompt/ompt.h"

/* Modules that call OpenMP and see another OpenMP library than the whole process does, or are to be told apart from others; OpenMP libraries;
 * functions. What is beyond is looked for with each call. */
#define PLACES 128u
#define PROVIDERS 8u
#define SLOTS 512u

/* An OpenMP library that not all of the process sees. */
struct provider {
    const void *base;
    bool llvm;
    atomic_bool filled;
    instr_function *_Atomic real[SLOTS];
};

/* A module of the process. */
struct place {
    uintptr_t low;
    uintptr_t high;
    const struct link_map *map;        /* NULL: a call from no module */
    _Atomic uint32_t joins;            /* *instr_preload_joins when it was looked at */
    bool own;                          /* its calls are recorded by stubs of its own, or come from the runtime */
    bool openmp;                       /* it is an OpenMP library */
    struct provider *_Atomic provider; /* the OpenMP library that it sees, if it is known */
};

static const uint32_t no_joins;
const volatile uint32_t *instr_preload_joins = &no_joins;

static const struct instr_table *table; /* NULL: nothing is recorded here */
static struct instr_library self;

static struct place places[PLACES];
static _Atomic uint32_t place_count;
static struct provider providers[PROVIDERS];
static _Atomic uint32_t provider_count;
static atomic_flag searching = ATOMIC_FLAG_INIT; /* whoever adds to these */

enum { BEFORE, BEGINNING, BEGUN };
static atomic_int state;
static pthread_t beginner;

/* A call of the program's own begins the trace too. */
static void begin_by_call(void);
#define INSTR_CALLS_BEGIN() begin_by_call()
#define INSTR_CALLS_SHOWN __attribute__((visibility("default")))
#include "library/calls.h"

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

static const void *base_of(const void *address)
{
    Dl_info info;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object found;
    if (find_object(address, &found))
        return found.dlfo_map_start;
#endif
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* The module that an address is in, or NULL. */
static const struct link_map *map_of(uintptr_t address)
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

/*
 * A function by the name, as a module and its libraries see it, or (NULL) as all of the process does, behind this library. NULL: there is none
 * but this library's own.
 */
static instr_function *see(const struct link_map *from, const char *name)
{
    instr_function *found = NULL;
    if (from != NULL) {
        *(void **)&found = instr_seen_from(from, map_of((uintptr_t)&self), name);
        return found;
    }
    *(void **)&found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        (void)dlerror(); /* the program is not to read of it */
    else if (base_of((const void *)(uintptr_t)found) == base_of(&self))
        found = NULL;
    return found;
}

/* Whether a function is libomp's, which tells what it does by itself. */
static bool is_llvm(instr_function *function, const struct link_map *from)
{
    instr_function *const entry = see(from, "__kmpc_fork_call");
    return entry != NULL && base_of((const void *)(uintptr_t)entry) == base_of((const void *)(uintptr_t)function);
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

/* ---- the runtime ---- */

static bool is_openmp(const struct instr_slot *slot)
{
    return slot->name[0] != '_';
}

static int (*getter(const struct link_map *from, const char *name))(void)
{
    return (int (*)(void))see(from, name);
}

static void find_getters(const struct link_map *from)
{
    self.getters = (struct instr_getters){
        getter(from, "omp_get_thread_num"), getter(from, "omp_get_num_threads"), getter(from, "omp_get_team_num"),
        getter(from, "omp_get_num_teams"),  getter(from, "omp_get_num_devices"),
    };
}

/* Begins the trace, and gives the stubs their probes. `from`: where OpenMP's functions are seen; `llvm`: they are libomp's. */
static void find_runtime(const struct link_map *from, bool llvm)
{
    if (instr_table_of_program() != NULL)
        return; /* the program records itself */
    const struct instr_table *const found = instr_shared_table();
    if (found->version != INSTR_TABLE_VERSION || found->bytes < sizeof *found)
        return;
    self.version = INSTR_TABLE_VERSION;
    self.flags = INSTR_LIBRARY_PRELOADED | (llvm ? INSTR_LIBRARY_OMPT : 0);
    find_getters(from);
    found->join(&self);
    instr_calls_find(found);
    for (struct instr_slot *slot = instr_slots; slot->name != NULL; slot++)
        slot->offered = found->find(slot->probe_name);
    instr_preload_joins = found->joins;
    table = found;
}

static struct instr_way for_all(struct instr_slot *slot);

static bool is_for_teams(const struct instr_slot *slot)
{
    return strncmp(slot->name, "GOMP_", 5) == 0 || strncmp(slot->name, "omp_", 4) == 0;
}

/* What teams call is looked up before there are any: dlsym() takes the loader's lock. `gomp`: all of the process sees libgomp. */
static void find_all(bool gomp)
{
    for (struct instr_slot *slot = instr_slots; slot->name != NULL; slot++)
        if (strncmp(slot->name, "pthread_", 8) == 0) {
            if (atomic_load_explicit(&slot->real, memory_order_relaxed) == NULL)
                atomic_store_explicit(&slot->real, see(NULL, slot->name), memory_order_release);
        } else if (gomp && is_for_teams(slot)) {
            (void)for_all(slot);
        }
}

/* Once; a thread that comes meanwhile waits, and so do functions that the runtime itself calls. */
static void begin(const struct link_map *from, bool llvm)
{
    int expected = BEFORE;
    if (state == BEGUN) {
        if (self.getters.thread_num == NULL) /* threads began it, and OpenMP comes now */
            find_getters(from);
        return;
    }
    if (atomic_compare_exchange_strong(&state, &expected, BEGINNING)) {
        beginner = pthread_self();
        find_runtime(from, llvm);
        state = BEGUN;
        find_all(from == NULL && !llvm);
    } else if (!pthread_equal(beginner, pthread_self())) {
        while (state != BEGUN)
            (void)sched_yield();
    }
}

static void begin_by_call(void)
{
    if (__builtin_expect(state == BEGUN, 1))
        return;
    const int error = errno;
    begin(NULL, false);
    errno = error;
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

static bool holds(const struct place *place, uintptr_t address)
{
    return address >= place->low && address < place->high;
}

static bool is_own(const struct place *place)
{
    const struct instr_table *const shared = instr_shared_table();
    for (unsigned i = 0; i < INSTR_LIBRARY_PLACES; i++)
        if (shared->libraries[i] != 0 && holds(place, shared->libraries[i]))
            return true;
    return holds(place, (uintptr_t)shared);
}

/* The module as it was looked at before libraries came or went, or NULL. */
static struct place *same_place(const struct place *place, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (places[i].low == place->low && places[i].high == place->high && places[i].map == place->map)
            return &places[i];
    return NULL;
}

/* The module that a call comes from; `unknown`, filled in, where it is none or there is no room to remember it. */
static struct place *place_of(uintptr_t caller, struct place *unknown)
{
    const uint32_t joins = *instr_preload_joins;
    const uint32_t count = atomic_load_explicit(&place_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (holds(&places[i], caller) && places[i].joins == joins)
            return &places[i];
    struct wanted wanted = {.address = caller};
    struct place *place = unknown;
    *unknown = (struct place){.joins = joins, .map = map_of(caller)};
    if (dl_iterate_phdr(find_module, &wanted) == 0 || unknown->map == NULL)
        return unknown;
    unknown->low = wanted.low;
    unknown->high = wanted.high;
    unknown->own = is_own(unknown);
    unknown->openmp = instr_definition(unknown->map, "GOMP_parallel") != NULL || instr_definition(unknown->map, "__kmpc_fork_call") != NULL;
    struct place *const before = same_place(unknown, count);
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

/* The module itself, or one in whose sight the function is: the libraries for which the runtime calls it first, then any. */
static const struct link_map *seer_of(const struct place *place, const char *name)
{
    const struct instr_table *const shared = instr_shared_table();
    if (place->map != NULL && see(place->map, name) != NULL)
        return place->map;
    for (unsigned i = 0; place->own && i < INSTR_LIBRARY_PLACES; i++) {
        const struct link_map *const map = shared->libraries[i] != 0 ? map_of(shared->libraries[i]) : NULL;
        if (map != NULL && see(map, name) != NULL)
            return map;
    }
    const struct link_map *map = map_of((uintptr_t)&self);
    while (map != NULL && map->l_prev != NULL)
        map = map->l_prev;
    while (map != NULL && see(map, name) == NULL)
        map = map->l_next;
    return map;
}

/* The one of the first `count` OpenMP libraries that is loaded there, or NULL. */
static struct provider *provider_at(const void *base, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (providers[i].base == base)
            return &providers[i];
    return NULL;
}

/* The OpenMP library that a function is of, or NULL: there are too many. */
static struct provider *provider_of(instr_function *real, const struct link_map *from)
{
    const void *const base = base_of((const void *)(uintptr_t)real);
    const uint32_t count = atomic_load_explicit(&provider_count, memory_order_acquire);
    struct provider *made = provider_at(base, count);
    if (made != NULL)
        return made;
    if (!atomic_flag_test_and_set_explicit(&searching, memory_order_acquire)) {
        const uint32_t at = atomic_load_explicit(&provider_count, memory_order_relaxed);
        if (at < PROVIDERS && at == count) {
            Dl_info info;
            made = &providers[at];
            made->base = base;
            made->llvm = is_llvm(real, from);
            /* It stays: its functions are kept here. */
            if (dladdr((const void *)(uintptr_t)real, &info) != 0)
                (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
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
    way.real = see(NULL, slot->name);
    if (way.real == NULL)
        return way;
    if (is_openmp(slot))
        begin(NULL, is_llvm(way.real, NULL));
    way.probe = is_llvm(way.real, NULL) ? NULL : slot->offered;
    if (state == BEGUN) {
        atomic_store_explicit(&slot->probe, way.probe, memory_order_relaxed);
        atomic_store_explicit(&slot->real, way.real, memory_order_release);
    }
    return way;
}

/* A known OpenMP library that the module sees: when that was found, not all of the process saw it. */
static struct provider *seen_provider(const struct instr_slot *slot, const struct place *place)
{
    const uint32_t count = atomic_load_explicit(&provider_count, memory_order_acquire);
    const struct link_map *const from = count > 0 ? seer_of(place, slot->name) : NULL;
    instr_function *const real = from != NULL ? see(from, slot->name) : NULL;
    return real != NULL ? provider_at(base_of((const void *)(uintptr_t)real), count) : NULL;
}

/* The way from a module whose OpenMP library is known, or {NULL, NULL}. */
static struct instr_way known(const struct instr_slot *slot, struct place *place)
{
    const size_t number = (size_t)(slot - instr_slots);
    struct instr_way way = {NULL, NULL};
    struct provider *provider = place->provider;
    if (provider == NULL)
        place->provider = provider = seen_provider(slot, place);
    if (provider != NULL && number < SLOTS)
        way.real = atomic_load_explicit(&provider->real[number], memory_order_relaxed);
    if (way.real != NULL)
        way.probe = provider->llvm ? NULL : slot->offered;
    return way;
}

/* What teams call, as find_all() does. */
static void fill(struct provider *provider, const struct link_map *from)
{
    for (size_t i = 0; i < SLOTS && instr_slots[i].name != NULL; i++)
        if (is_for_teams(&instr_slots[i]))
            atomic_store_explicit(&provider->real[i], see(from, instr_slots[i].name), memory_order_relaxed);
}

/* The way from a module whose OpenMP library only its own libraries see. */
static struct instr_way for_place(struct instr_slot *slot, struct place *place)
{
    const size_t number = (size_t)(slot - instr_slots);
    struct instr_way way = {NULL, NULL};
    struct provider *provider = place->provider;
    const struct link_map *const from = seer_of(place, slot->name);
    way.real = from != NULL ? see(from, slot->name) : without_openmp(slot->name);
    if (from == NULL || way.real == NULL)
        return way;
    if (provider == NULL)
        place->provider = provider = provider_of(way.real, from);
    const bool llvm = provider != NULL ? provider->llvm : is_llvm(way.real, from);
    if (is_openmp(slot))
        begin(from, llvm);
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
    if (way.real == NULL || *instr_preload_joins > 1) {
        struct place unknown;
        struct place *const place = place_of((uintptr_t)caller, &unknown);
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

struct instr_way instr_preload_thread_way(struct instr_slot *slot, const void *caller, bool makes)
{
    struct instr_way way = {atomic_load_explicit(&slot->real, memory_order_acquire), NULL};
    instr_function *const offered = atomic_load_explicit(&slot->offered, memory_order_relaxed);
    if (__builtin_expect(way.real != NULL && offered == NULL && (!makes || state == BEGUN), 0))
        return way; /* nothing is recorded, or not yet */
    const int error = errno;
    struct place unknown;
    const struct place *const place = place_of((uintptr_t)caller, &unknown);
    if (way.real == NULL) {
        way.real = see(NULL, slot->name);
        if (way.real != NULL) {
            atomic_store_explicit(&slot->real, way.real, memory_order_release);
        } else { /* C++'s library came with one that was loaded later */
            const struct link_map *const from = seer_of(place, slot->name);
            way.real = from != NULL ? see(from, slot->name) : NULL;
        }
    }
    if (makes && state != BEGUN && !place->own && !place->openmp)
        begin(NULL, false);
    if (!place->own && !place->openmp)
        way.probe = atomic_load_explicit(&slot->offered, memory_order_relaxed);
    errno = error;
    return way;
}

/* ---- the library comes and goes ---- */

/* Where OpenMP is there from the start, the trace begins before main, as that of a program which instr-cc linked; else with its first call. */
__attribute__((constructor(101))) static void came(void)
{
    const int error = errno;
    instr_function *const llvm = see(NULL, "__kmpc_fork_call");
    instr_function *const entry = see(NULL, "GOMP_parallel");
    if (entry != NULL || llvm != NULL)
        begin(NULL, entry == NULL || is_llvm(entry, NULL));
    errno = error;
}

__attribute__((destructor(101))) static void goes(void)
{
    const int error = errno;
    if (table != NULL)
        table->leave(&self);
    errno = error;
}

/* What libomp looks for. It may ask again while it is asked: for another tool, or by OMP_TOOL_LIBRARIES. */
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name)
{
    static bool asked;
    if (asked)
        return NULL;
    asked = true;
    instr_ompt_start_fn *next;
    *(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
    begin(NULL, true);
    __typeof__(&instr_ompt_choose) choose = NULL;
    if (table != NULL)
        choose = (__typeof__(choose))table->find("instr_ompt_choose");
    ompt_start_tool_result_t *const tool = choose != NULL ? choose(next, version, name) : next != NULL ? next(version, name) : NULL;
    asked = false;
    return tool;
}

/*
 * libinstr-preload.so, which `instr run` preloads into programs that nobody built to be traced (docs/decisions/0023). Its generated stubs have the
 * names of OpenMP's functions and of others, and stand in front of them. This file begins the trace; preload_runtime.c loads the runtime,
 * libinstr.so; preload_way.c finds the functions that the stubs stand in front of, preload_memory.c those of the heap.
 *
 * Nothing is recorded here where somebody else does it: where the program has the runtime inside, for calls from libraries that instr-cc
 * linked, and for calls of libomp, which tells the runtime by itself (OMPT).
 */
#define _GNU_SOURCE
#define INSTR_IMPLEMENTATION
#include "instr/instr.h"

#include "library/preload_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include "core/pthread_levels.h"
#include "core/settings.h"
#include "library/program.h"
#include "library/table.h"
#include "ompt/ompt.h"

static const uint32_t no_joins;
const volatile uint32_t *instr_preload_joins = &no_joins;

static const uint32_t nothing_recorded = INSTR_PTHREAD_OFF;
const uint32_t *_Atomic instr_preload_level = &nothing_recorded;

static const struct instr_table *table; /* NULL: nothing is recorded here */
struct instr_library instr_preload_self;

atomic_int instr_preload_state;
static pthread_t beginner;

/* A call of the program's own begins the trace too. */
static void begin_by_call(void);
#define INSTR_CALLS_BEGIN() begin_by_call()
#define INSTR_CALLS_SHOWN __attribute__((visibility("default")))
#include "library/calls.h"

/* ---- the runtime ---- */

static int (*getter(const struct link_map *from, const char *name))(void)
{
    return (int (*)(void))instr_preload_see(from, name);
}

static void find_getters(const struct link_map *from)
{
    instr_preload_self.getters = (struct instr_getters){
        getter(from, "omp_get_thread_num"), getter(from, "omp_get_num_threads"), getter(from, "omp_get_team_num"),
        getter(from, "omp_get_num_teams"),  getter(from, "omp_get_num_devices"),
    };
}

/* Says in the trace what of a setting is not done. */
static void complain(const char *why)
{
    const __typeof__(&instr_settings_complain) to = (__typeof__(to))table->find("instr_settings_complain");
    if (to != NULL)
        to(why);
}

/* Up to which level probes do nothing (probes/pthread_lock.c, probes/mutex.c). The others look by themselves. */
static uint32_t silent_level(const char *probe)
{
    static const struct {
        const char *probe;
        uint32_t level;
    } SILENT[] = {
        {"instr_probe_pthread_unlock", INSTR_PTHREAD_WAITS}, {"instr_probe_pthread_trylock", INSTR_PTHREAD_WAITS},
        {"instr_probe_lock_unset", INSTR_PTHREAD_WAITS},     {"instr_probe_lock_test", INSTR_PTHREAD_WAITS},
        {"instr_probe_lock_take", INSTR_PTHREAD_THREADS},
    };
    for (size_t i = 0; i < sizeof SILENT / sizeof SILENT[0]; i++)
        if (strcmp(probe, SILENT[i].probe) == 0)
            return SILENT[i].level;
    return INSTR_PTHREAD_OFF;
}

/* Begins the trace, and gives the stubs their probes. `from`: where OpenMP's functions are seen; `llvm`: they are libomp's. */
static void find_runtime(const struct link_map *from, bool llvm)
{
    if (instr_table_of_program() != NULL)
        return; /* the program records itself */
    const struct instr_table *const found = instr_preload_load();
    if (found == NULL || found->version != INSTR_TABLE_VERSION || found->bytes < sizeof *found)
        return;
    instr_preload_self.version = INSTR_TABLE_VERSION;
    instr_preload_self.flags = INSTR_LIBRARY_PRELOADED | (llvm ? INSTR_LIBRARY_OMPT : 0) | (instr_preload_has_heap() ? INSTR_LIBRARY_MEMORY : 0);
    find_getters(from);
    found->join(&instr_preload_self);
    instr_calls_find(found);
    for (struct instr_slot *slot = instr_slots; slot->name != NULL; slot++) {
        slot->silent = silent_level(slot->probe_name);
        slot->offered = found->find(slot->probe_name);
    }
    const __typeof__(&instr_pthread_levels) levels = (__typeof__(levels))found->find("instr_pthread_levels");
    if (levels != NULL)
        atomic_store_explicit(&instr_preload_level, levels(), memory_order_release);
    instr_preload_joins = found->joins;
    table = found;
    if (instr_preload_heap_is_foreign())
        complain("INSTR_MEMORY=1, but the program brings its own malloc: its heap is not recorded");
    else if (instr_preload_has_heap())
        instr_preload_record_heap();
}

/* Once; a thread that comes meanwhile waits, and so do functions that the runtime itself calls. */
void instr_preload_begin(const struct link_map *from, bool llvm)
{
    int expected = INSTR_PRELOAD_BEFORE;
    if (instr_preload_state == INSTR_PRELOAD_BEGUN) {
        if (instr_preload_self.getters.thread_num == NULL) /* threads began it, and OpenMP comes now */
            find_getters(from);
        return;
    }
    if (atomic_compare_exchange_strong(&instr_preload_state, &expected, INSTR_PRELOAD_BEGINNING)) {
        beginner = pthread_self();
        find_runtime(from, llvm);
        instr_preload_state = INSTR_PRELOAD_BEGUN;
        instr_preload_find_all(from == NULL && !llvm);
    } else if (!pthread_equal(beginner, pthread_self())) {
        while (instr_preload_state != INSTR_PRELOAD_BEGUN)
            (void)sched_yield();
    }
}

static void begin_by_call(void)
{
    if (__builtin_expect(instr_preload_state == INSTR_PRELOAD_BEGUN, 1))
        return;
    const int error = errno;
    instr_preload_begin(NULL, false);
    errno = error;
}

/* ---- the library comes and goes ---- */

/*
 * Where OpenMP is there from the start, or the heap is recorded, the trace begins before main, as that of a program which instr-cc linked; else with
 * the first call. Most processes of a run, shells and compilers, have neither: they pay for two looks into the tables of each module.
 */
__attribute__((constructor(101))) static void came(void)
{
    const int error = errno;
    instr_function *llvm = NULL;
    instr_function *entry = NULL;
    if (instr_preload_is_defined("__kmpc_fork_call"))
        llvm = instr_preload_see(NULL, "__kmpc_fork_call");
    if (instr_preload_is_defined("GOMP_parallel"))
        entry = instr_preload_see(NULL, "GOMP_parallel");
    if (entry != NULL || llvm != NULL)
        instr_preload_begin(NULL, entry == NULL || instr_preload_is_llvm(entry, NULL));
    else if (instr_preload_has_heap())
        instr_preload_begin(NULL, false);
    errno = error;
}

__attribute__((destructor(101))) static void goes(void)
{
    const int error = errno;
    if (table != NULL)
        table->leave(&instr_preload_self);
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
    instr_preload_begin(NULL, true);
    __typeof__(&instr_ompt_choose) choose = NULL;
    if (table != NULL)
        choose = (__typeof__(choose))table->find("instr_ompt_choose");
    ompt_start_tool_result_t *const tool = choose != NULL ? choose(next, version, name) : next != NULL ? next(version, name) : NULL;
    asked = false;
    return tool;
}

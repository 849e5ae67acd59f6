/*
 * The OMPT tool: libomp looks for ompt_start_tool when it starts and calls it if it finds one (ompt/start.c, library/library.c). A user's tool goes
 * first: there is room for one, and ours is not what the user wrote the other for.
 */
#include "core/cold.h"

#include <dlfcn.h>
#include <string.h>

#include "core/metadata.h"
#include "core/process.h"
#include "core/settings.h"
#include "library/table.h"
#include "ompt/state.h"

/* Not in static programs, nor in every C library. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose

static struct {
    const char *version;
    ompt_get_task_memory_t task_memory;
    uintptr_t base; /* where the OpenMP runtime is loaded */
    uintptr_t end;
} runtime;

/* `fn` as what lookup() and set_callback() pass around. */
#define CALLBACK(fn) ((ompt_interface_fn_t)(uintptr_t)(fn))

struct callback {
    int event;
    ompt_interface_fn_t fn;
};

bool instr_ompt_in_runtime(const void *address)
{
    return (uintptr_t)address >= runtime.base && (uintptr_t)address < runtime.end;
}

/*
 * Of a taskloop of many tasks libomp makes tasks of its own that create the others. Such a task's entry point lies in libomp. The interface
 * tells the memory of the task that is about to run, which holds the head that compilers fill in (kmp_task_t):
 *
 *     { void *shareds; entry; int32_t part_id; | void *destructors; | … }
 *
 * libomp 14 to 16 tell the place of one of the bars, 19 where the whole block begins. There the head is known by its first word,
 * which points to the end of the same block: these tasks always have shared variables.
 */
#define HEAD_BYTES 1024u /* more than libomp puts before the head; what follows is the program's data */

bool instr_ompt_is_helper(void)
{
    void *memory = NULL;
    size_t bytes = 0;
    uintptr_t word[2];
    if (sizeof(void *) != 8 || runtime.task_memory == NULL || runtime.task_memory(&memory, &bytes, 0) < 0 || memory == NULL)
        return false;
    const char *const block = memory;
    memcpy(word, block - ((uintptr_t)block % 8 == 4 ? 20 : 32), sizeof word);
    instr_arch_say_written(word, sizeof word); /* libomp need not have filled in what lies there */
    if (instr_ompt_in_runtime((const void *)word[1]))
        return true;
    for (size_t at = 0; (uintptr_t)block % 8 == 0 && at < HEAD_BYTES && at + sizeof word <= bytes; at += 8) {
        memcpy(word, block + at, sizeof word);
        instr_arch_say_written(word, sizeof word);
        const bool inside = word[0] > (uintptr_t)block && word[0] < (uintptr_t)block + bytes;
        if (inside && instr_ompt_in_runtime((const void *)word[1]))
            return true;
    }
    return false;
}

static void find_runtime(void *arg, uintptr_t base, uintptr_t end, const uint8_t *id, size_t id_bytes, const char *path)
{
    const uintptr_t inside = *(const uintptr_t *)arg;
    (void)id;
    (void)id_bytes;
    (void)path;
    if (inside >= base && inside < end) {
        runtime.base = base;
        runtime.end = end;
    }
}

static char version_text[256];

/* The host looks for the words before the colon (instr/src/summary/notes.rs). */
#define WITHOUT_MUTEXES ", mutual exclusion is not recorded: the thread that began with OpenMP may end before others"

static ompt_set_callback_t set_callback; /* while the initial thread is libomp's first one */

static void say_without_mutexes(void)
{
    if (runtime.version == version_text)
        strncat(version_text, WITHOUT_MUTEXES, sizeof version_text - strlen(version_text) - 1);
}

/*
 * What tells of mutual exclusion. At the end of a critical section libomp reads data of its first thread where a tool asks for the release,
 * whichever thread ends it (__kmpc_end_critical of version 14; others are treated alike). They are gone when that thread has ended, and the
 * program would crash. Where another thread than the initial one is the first, nothing of this is asked for. The initial one mostly ends with the
 * process; where it ends before (pthread_exit), no more is asked for from then on: instr_ompt_initial_ends().
 */
static bool is_mutual_exclusion(int event)
{
    return event == OMPT_MUTEX_RELEASED || event == OMPT_MUTEX_ACQUIRE || event == OMPT_MUTEX_ACQUIRED || event == OMPT_NEST_LOCK;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    const bool first_stays = instr_platform_is_initial_thread();
    const struct callback callbacks[] = {
        {OMPT_PARALLEL_BEGIN, CALLBACK(instr_ompt_parallel_begin)},
        {OMPT_PARALLEL_END, CALLBACK(instr_ompt_parallel_end)},
        {OMPT_TASK_CREATE, CALLBACK(instr_ompt_task_create)},
        {OMPT_TASK_SCHEDULE, CALLBACK(instr_ompt_task_schedule)},
        {OMPT_IMPLICIT_TASK, CALLBACK(instr_ompt_implicit_task)},
        {OMPT_SYNC_REGION_WAIT, CALLBACK(instr_ompt_sync_region_wait)},
        {OMPT_MUTEX_RELEASED, CALLBACK(instr_ompt_mutex_released)},
        {OMPT_DEPENDENCES, CALLBACK(instr_ompt_dependences)},
        {OMPT_WORK, CALLBACK(instr_ompt_work)},
        {OMPT_MASKED, CALLBACK(instr_ompt_masked)},
        {OMPT_SYNC_REGION, CALLBACK(instr_ompt_sync_region)},
        {OMPT_MUTEX_ACQUIRE, CALLBACK(instr_ompt_mutex_acquire)},
        {OMPT_MUTEX_ACQUIRED, CALLBACK(instr_ompt_mutex_acquired)},
        {OMPT_NEST_LOCK, CALLBACK(instr_ompt_nest_lock)},
        {OMPT_CANCEL, CALLBACK(instr_ompt_cancel)},
        {OMPT_DISPATCH, CALLBACK(instr_ompt_dispatch)},
    };
    (void)device;
    (void)data;
    const ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    if (set == NULL)
        return 0;
    runtime.task_memory = (ompt_get_task_memory_t)lookup("ompt_get_task_memory");
    uintptr_t inside = (uintptr_t)lookup;
    instr_platform_modules(find_runtime, &inside);
    if (instr_ompt_in_runtime((const void *)(uintptr_t)initialize)) /* linked statically: nothing can be told by addresses */
        runtime.base = runtime.end = 0;
    for (size_t i = 0; i < sizeof callbacks / sizeof callbacks[0]; i++)
        if (first_stays || !is_mutual_exclusion(callbacks[i].event))
            (void)set(callbacks[i].event, callbacks[i].fn);
    if (first_stays)
        set_callback = set;
    else
        say_without_mutexes();
    return 1;
}

bool instr_ompt_without_mutexes;

/* Another thread that has just seen that there is a callback, and calls it now, would still crash: libomp has no other way. */
void instr_ompt_initial_ends(void)
{
    if (set_callback == NULL || !instr_platform_is_initial_thread())
        return;
    __atomic_store_n(&instr_ompt_without_mutexes, true, __ATOMIC_RELAXED);
    (void)set_callback(OMPT_MUTEX_RELEASED, NULL);
    set_callback = NULL;
    say_without_mutexes();
}

static void finalize(ompt_data_t *data)
{
    (void)data;
}

/* Whether another tool was started instead of ours. */
static bool passed_on;

/* Replaces the weak one of core/metadata.c. */
const char *instr_openmp(bool closed)
{
    if (runtime.version != NULL)
        return runtime.version;
    if (passed_on || &instr_ompt_foreign != NULL)
        return "libomp, observed by another tool";
    if (&instr_ompt_linked == NULL && !instr_libraries_have(INSTR_LIBRARY_OMPT))
        return "libgomp"; /* this file is here for libraries */
    return closed ? "none" : "libomp"; /* told to do without tools, or never started */
}

static ompt_start_tool_result_t result = {initialize, finalize, {0}};

ompt_start_tool_result_t *instr_ompt_start(unsigned version, const char *name)
{
    (void)version;
    const bool early = instr_settings.buffer == 0; /* a shared library's constructor uses OpenMP: ours has not run yet */
    if (early)
        instr_settings_read();
    if (!instr_settings.enabled || (!early && instr_process_clock() == 0)) /* nothing is recorded: another tool may */
        return NULL;
    if (runtime.version == NULL) {
        const char *const words[] = {"libomp ", name != NULL ? name : ""};
        version_text[0] = '\0';
        for (unsigned i = 0; i < 2; i++)
            strncat(version_text, words[i], sizeof version_text - sizeof WITHOUT_MUTEXES - strlen(version_text));
    }
    runtime.version = version_text;
    return &result;
}

/* What a tool library offers, started; NULL: it cannot be loaded, or does not want to. */
static ompt_start_tool_result_t *of_library(const char *path, unsigned version, const char *name)
{
    void *const object = dlopen(path, RTLD_LAZY);
    instr_ompt_start_fn *start = NULL;
    if (object == NULL)
        return NULL;
    *(void **)&start = dlsym(object, "ompt_start_tool");
    ompt_start_tool_result_t *const tool = start != NULL ? start(version, name) : NULL;
    if (tool == NULL && dlclose != NULL)
        dlclose(object);
    return tool;
}

/* libomp looks into these libraries only where there is no tool in the program, and so never where there is ours. */
static ompt_start_tool_result_t *of_libraries(unsigned version, const char *name)
{
    const char *list = instr_platform_getenv("OMP_TOOL_LIBRARIES");
    ompt_start_tool_result_t *tool = NULL;
    while (list != NULL && tool == NULL && dlopen != NULL && dlsym != NULL) {
        const size_t length = strcspn(list, ":");
        char path[INSTR_CFG_PATH_BYTES];
        if (length > 0 && length < sizeof path) {
            memcpy(path, list, length);
            path[length] = '\0';
            tool = of_library(path, version, name);
        }
        list = list[length] == ':' ? list + length + 1 : NULL;
    }
    return tool;
}

ompt_start_tool_result_t *instr_ompt_choose(instr_ompt_start_fn *next, unsigned version, const char *name)
{
    ompt_start_tool_result_t *tool = next != NULL ? next(version, name) : NULL;
    if (tool == NULL && runtime.version == NULL)
        tool = of_libraries(version, name);
    passed_on = tool != NULL && tool != &result;
    if (passed_on)
        runtime.version = NULL;
    return tool != NULL ? tool : instr_ompt_start(version, name);
}

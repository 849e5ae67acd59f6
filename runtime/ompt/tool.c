/*
 * The OMPT tool: libomp looks for ompt_start_tool when it starts and calls it if it finds one. The linker is told to take this
 * file out of the archive (`-u ompt_start_tool`), and only in programs that use libomp.
 */
#include "core/cold.h"

#include <string.h>

#include "core/metadata.h"
#include "core/process.h"
#include "core/settings.h"
#include "ompt/state.h"

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

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
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
        (void)set(callbacks[i].event, callbacks[i].fn);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
}

/* Replaces the weak one of core/metadata.c. */
const char *instr_openmp(bool closed)
{
    if (runtime.version != NULL)
        return runtime.version;
    return closed ? "none" : "libomp"; /* told to do without tools, or never started */
}

/* Found by the OpenMP runtime, which must not be kept from seeing it by our visibility. */
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    static char text[128] = "libomp ";
    (void)version;
    const bool early = instr_settings.buffer == 0; /* a shared library's constructor uses OpenMP: ours has not run yet */
    if (early)
        instr_settings_read();
    if (!instr_settings.enabled || (!early && instr_process_clock() == 0)) /* nothing is recorded: another tool may */
        return NULL;
    const size_t length = strlen(text);
    if (name != NULL)
        strncat(text, name, sizeof text - length - 1);
    runtime.version = text;
    return &result;
}

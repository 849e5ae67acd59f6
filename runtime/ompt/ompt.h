/*
 * What of OMPT we use: types, numbers and signatures of the OpenMP 5.2 specification (chapter 19, "OMPT Interface") that libomp 14 to
 * 19 and ours agree on. Our own, so that no system header is needed; enumerations are int in the ABI.
 */
#ifndef INSTR_OMPT_H
#define INSTR_OMPT_H

#include <stddef.h>
#include <stdint.h>

typedef union ompt_data {
    uint64_t value;
    void *ptr;
} ompt_data_t;

typedef struct ompt_dependence {
    ompt_data_t variable;
    int dependence_type;
} ompt_dependence_t;

/* What ompt_dispatch_ws_loop_chunk points to. */
typedef struct ompt_dispatch_chunk {
    uint64_t start;
    uint64_t iterations;
} ompt_dispatch_chunk_t;

typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);
typedef int (*ompt_set_callback_t)(int event, ompt_interface_fn_t callback);
typedef int (*ompt_get_task_memory_t)(void **addr, size_t *size, int block);

typedef struct ompt_start_tool_result {
    int (*initialize)(ompt_function_lookup_t lookup, int initial_device_num, ompt_data_t *tool_data);
    void (*finalize)(ompt_data_t *tool_data);
    ompt_data_t tool_data;
} ompt_start_tool_result_t;

/* What libomp calls to get a tool (ompt_start_tool); ours behind that name (ompt/tool.c). */
typedef ompt_start_tool_result_t *instr_ompt_start_fn(unsigned version, const char *name);
ompt_start_tool_result_t *instr_ompt_start(unsigned version, const char *name);

/* The tool that starts, ours (`start`) or another one that `next` or OMP_TOOL_LIBRARIES names; NULL: none of these (ompt/other.c). */
ompt_start_tool_result_t *instr_ompt_choose(instr_ompt_start_fn *next, unsigned version, const char *name);

/* There in a program that libomp may ask for a tool, and in one whose own tool it gets. */
extern const char instr_ompt_linked __attribute__((weak));
extern const char instr_ompt_foreign __attribute__((weak));

/* Events (ompt_callbacks_t). */
enum {
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_SYNC_REGION_WAIT = 16,
    OMPT_MUTEX_RELEASED = 17,
    OMPT_DEPENDENCES = 18,
    OMPT_WORK = 20,
    OMPT_MASKED = 21,
    OMPT_SYNC_REGION = 23,
    OMPT_MUTEX_ACQUIRE = 26,
    OMPT_MUTEX_ACQUIRED = 27,
    OMPT_NEST_LOCK = 28,
    OMPT_CANCEL = 30,
    OMPT_DISPATCH = 32
};

enum { OMPT_SCOPE_BEGIN = 1, OMPT_SCOPE_END = 2 };

/* ompt_sync_region_t; 1 and 2 until 5.0, 8 and 9 since 5.1 (libomp: since 17). */
enum {
    OMPT_SYNC_BARRIER = 1,
    OMPT_SYNC_BARRIER_IMPLICIT = 2,
    OMPT_SYNC_BARRIER_EXPLICIT = 3,
    OMPT_SYNC_BARRIER_IMPLEMENTATION = 4,
    OMPT_SYNC_TASKWAIT = 5,
    OMPT_SYNC_TASKGROUP = 6,
    OMPT_SYNC_REDUCTION = 7,
    OMPT_SYNC_IMPLICIT_WORKSHARE = 8,
    OMPT_SYNC_IMPLICIT_PARALLEL = 9,
    OMPT_SYNC_TEAMS = 10
};

/* ompt_work_t; 10 to 13 since 6.0 (libomp: since 17). */
enum {
    OMPT_WORK_LOOP = 1,
    OMPT_WORK_SECTIONS = 2,
    OMPT_WORK_SINGLE_EXECUTOR = 3,
    OMPT_WORK_SINGLE_OTHER = 4,
    OMPT_WORK_WORKSHARE = 5,
    OMPT_WORK_DISTRIBUTE = 6,
    OMPT_WORK_TASKLOOP = 7,
    OMPT_WORK_SCOPE = 8,
    OMPT_WORK_LOOP_STATIC = 10,
    OMPT_WORK_LOOP_DYNAMIC = 11,
    OMPT_WORK_LOOP_GUIDED = 12,
    OMPT_WORK_LOOP_OTHER = 13
};

/* ompt_dispatch_t */
enum { OMPT_DISPATCH_WS_LOOP_CHUNK = 3 };

/* ompt_mutex_t */
enum {
    OMPT_MUTEX_LOCK = 1,
    OMPT_MUTEX_TEST_LOCK = 2,
    OMPT_MUTEX_NEST_LOCK = 3,
    OMPT_MUTEX_TEST_NEST_LOCK = 4,
    OMPT_MUTEX_CRITICAL = 5,
    OMPT_MUTEX_ATOMIC = 6,
    OMPT_MUTEX_ORDERED = 7
};

/* ompt_task_flag_t */
#define OMPT_TASK_INITIAL 0x00000001u
#define OMPT_TASK_TARGET 0x00000008u
#define OMPT_TASK_TASKWAIT 0x00000010u
#define OMPT_TASK_UNDEFERRED 0x08000000u
#define OMPT_TASK_UNTIED 0x10000000u
#define OMPT_TASK_FINAL 0x20000000u
#define OMPT_TASK_MERGEABLE 0x40000000u

/* ompt_task_status_t */
enum {
    OMPT_TASK_COMPLETE = 1,
    OMPT_TASK_YIELD = 2,
    OMPT_TASK_CANCELLED = 3,
    OMPT_TASK_DETACH = 4,
    OMPT_TASK_EARLY_FULFILL = 5,
    OMPT_TASK_LATE_FULFILL = 6,
    OMPT_TASK_SWITCH = 7,
    OMPT_TASKWAIT_COMPLETE = 8
};

/* ompt_parallel_flag_t */
#define OMPT_PARALLEL_INVOKER_PROGRAM 0x00000001u
#define OMPT_PARALLEL_INVOKER_RUNTIME 0x00000002u
#define OMPT_PARALLEL_LEAGUE 0x40000000u

/* ompt_dependence_type_t */
enum {
    OMPT_DEPEND_IN = 1,
    OMPT_DEPEND_OUT = 2,
    OMPT_DEPEND_INOUT = 3,
    OMPT_DEPEND_MUTEXINOUTSET = 4,
    OMPT_DEPEND_SOURCE = 5,
    OMPT_DEPEND_SINK = 6,
    OMPT_DEPEND_INOUTSET = 7,
    OMPT_DEPEND_OUT_ALL_MEMORY = 34,
    OMPT_DEPEND_INOUT_ALL_MEMORY = 35
};

/* ompt_cancel_flag_t */
#define OMPT_CANCEL_PARALLEL 0x01u
#define OMPT_CANCEL_SECTIONS 0x02u
#define OMPT_CANCEL_LOOP 0x04u
#define OMPT_CANCEL_TASKGROUP 0x08u
#define OMPT_CANCEL_ACTIVATED 0x10u
#define OMPT_CANCEL_DETECTED 0x20u
#define OMPT_CANCEL_DISCARDED_TASK 0x40u

#endif

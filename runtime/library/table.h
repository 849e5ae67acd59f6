/*
 * What a library that instr-cc linked asks of the one runtime of its process (docs/decisions/0017).
 *
 * The library has stubs, and library/library.c. The runtime is in the program, if instr-cc linked that, else in libinstr.so. Both offer this
 * table: probes by name, and what is called when a library comes and goes. No symbol of the dynamic linker is involved: the program's
 * table is found by a note in its headers, libinstr.so's by instr_shared_table.
 */
#ifndef INSTR_LIBRARY_TABLE_H
#define INSTR_LIBRARY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompt/ompt.h"

/* Changes with a signature or a meaning below, in instr/probes.h or instr/instr.h. New probes do not change it. Part of libinstr.so's name. */
#define INSTR_TABLE_VERSION 2

/* The name by which the dynamic linker knows libinstr.so. */
#define INSTR_SHARED_NAME "libinstr.so." INSTR_TEXT(INSTR_TABLE_VERSION)
#define INSTR_TEXT(macro) INSTR_TEXT_OF(macro)
#define INSTR_TEXT_OF(text) #text

/* The program's note (ELF): owner "instr", this type, and the distance from the descriptor to the table, 32 bits. */
#define INSTR_NOTE_NAME "instr"
#define INSTR_NOTE_TABLE 1

struct instr_static_config;

/* A function that is asked for or offered; its type is that of its name. */
typedef void instr_any_fn(void);

/* Of the OpenMP library that a library calls: the one runtime may be where no OpenMP library is. */
struct instr_getters {
    int (*thread_num)(void);
    int (*num_threads)(void);
    int (*team_num)(void);
    int (*num_teams)(void);
    int (*num_devices)(void);
};

enum {
    INSTR_LIBRARY_MEMORY = 1,
    INSTR_LIBRARY_OMPT = 2,
    INSTR_LIBRARY_PRELOADED = 4, /* library/preload.c: nobody built this process to be traced, and a trace without an event is of no use */
};

/* Libraries whose places are known at a time. */
#define INSTR_LIBRARY_PLACES 64u

/* A library of the process. It is the library's own memory: it is forgotten before the library is unloaded. */
struct instr_library {
    uint32_t version; /* INSTR_TABLE_VERSION it was built with */
    uint32_t flags;
    struct instr_getters getters; /* NULL where it calls no OpenMP library */
    const struct instr_static_config *config; /* of a library linked with --instr-config, or NULL */
    struct instr_library *next; /* the runtime's */
};

struct instr_table {
    uint32_t version; /* INSTR_TABLE_VERSION */
    uint32_t bytes;   /* of this structure: later ones may be longer */
    instr_any_fn *(*find)(const char *name); /* "instr_probe_task", "instr_event": a function, or NULL */
    void (*join)(struct instr_library *library);
    void (*leave)(struct instr_library *library);
    const volatile uint32_t *joins;      /* changes whenever a library comes or goes that instr-cc linked */
    const volatile uintptr_t *libraries; /* INSTR_LIBRARY_PLACES addresses, one in each that is there; else 0 */
};

/* In programs and libinstr.so (library/table.c). */
extern const struct instr_table instr_table;

/* What libinstr.so shows of itself: its table. */
__attribute__((visibility("default"))) const struct instr_table *instr_shared_table(void);

/* Called by library/table.c. */
void instr_library_join(struct instr_library *library);
void instr_library_leave(struct instr_library *library);
extern volatile uint32_t instr_library_joins;
extern volatile uintptr_t instr_library_places[INSTR_LIBRARY_PLACES];

/* The object with the runtime has ended. Whether libraries are left: the last one ends the process. Not in static programs. */
bool instr_libraries_stay(void) __attribute__((weak));

/* Whether there was a library that records the heap, or has libomp's tool. Not in static programs. */
bool instr_library_has(uint32_t flag) __attribute__((weak));

static inline bool instr_libraries_have(uint32_t flag)
{
    return instr_library_has != NULL && instr_library_has(flag);
}

/* The getters of a library that has some, or NULL. */
const struct instr_getters *instr_library_getters(void);

/* All that is offered: probes of instr/probes.h, and functions by their full names. */
#define INSTR_PROBES(P) \
    P(parallel) P(parallel_reductions) P(parallel_loop) P(parallel_loop_runtime) P(parallel_sections) P(parallel_start) \
    P(parallel_loop_start) P(parallel_loop_runtime_start) P(parallel_sections_start) P(parallel_end) P(teams) P(loop_start) \
    P(loop_runtime_start) P(loop_generic_start) P(loop_next) P(loop_ull_start) P(loop_ull_runtime_start) P(loop_ull_generic_start) \
    P(loop_ull_next) P(loop_doacross_start) P(loop_doacross_runtime_start) P(loop_doacross_generic_start) P(loop_ull_doacross_start) \
    P(loop_ull_doacross_runtime_start) P(loop_ull_doacross_generic_start) P(loop_end) P(loop_end_nowait) P(loop_end_cancel) \
    P(doacross_post) P(doacross_ull_post) P(doacross_wait) P(doacross_ull_wait) P(get_num_threads) P(get_thread_num) P(static_loop) \
    P(static_loop_start) P(static_loop_dispatch) P(sections_start) P(sections2_start) P(sections_next) P(sections_end) \
    P(sections_end_nowait) P(sections_end_cancel) P(single_start) P(single_copy_start) P(single_copy_end) P(single_end) \
    P(masked_begin) P(masked_end) P(scope_start) P(reductions_end) P(mutex_enter) P(mutex_leave) P(critical_name_start) \
    P(critical_name_end) P(lock_take) P(lock_unset) P(lock_test) P(barrier) P(barrier_cancel) P(barrier_ext) P(barrier_cancel_ext) \
    P(cancel) P(cancellation_point) P(taskwait) P(taskwait_depend) P(taskwait_depend_nowait) P(taskyield) P(taskgroup_start) \
    P(taskgroup_end) P(task) P(taskloop) P(taskloop_ull) P(fulfill) P(target_ext) P(target_data_ext) P(target_end_data) \
    P(target_update_ext) P(target) P(target_data) P(omp_alloc) P(omp_aligned_alloc) P(omp_calloc) P(omp_aligned_calloc) \
    P(omp_realloc) P(omp_free) P(malloc) P(calloc) P(realloc) P(reallocarray) P(free) P(posix_memalign) P(aligned_alloc) \
    P(page_alloc) P(new) P(new_nothrow) P(new_aligned) P(new_aligned_nothrow) P(delete) P(delete_word) P(delete_two_words) \
    P(delete_nothrow) P(delete_aligned_nothrow) P(mmap) P(mmap64) P(munmap) P(mremap) P(sigaction) P(signal) P(sigwait) \
    P(sigtimedwait) P(signalfd) P(pthread_create) P(pthread_join) P(pthread_timedjoin) P(pthread_clockjoin) \
    P(pthread_setname) P(pthread_lock) P(pthread_trylock) P(pthread_timedlock) P(pthread_clocklock) P(pthread_unlock) \
    P(pthread_cond_wait) P(pthread_cond_timedwait) P(pthread_cond_clockwait) P(pthread_barrier_wait) P(pthread_once) P(sem_wait) \
    P(sem_timedwait) P(sem_clockwait) P(thrd_create) P(thrd_join) P(call_once) P(cxx_thread) P(cxx_join) P(cxx_wait) P(cxx_future) \
    P(process_exit)

#define INSTR_FUNCTIONS(F) \
    F(instr_call_enter) F(instr_call_leave) F(instr_counter) F(instr_event) F(instr_flush) F(instr_region_begin) F(instr_region_end) \
    F(instr_settings_complain) F(instr_start) F(instr_stop) F(instr_ompt_choose) F(instr_function_begin) F(instr_function_end) \
    F(instr_function_unwind) F(instr_function_suspend) F(instr_function_resume) F(instr_trace_place) F(instr_thread_is_named) \
    F(instr_interpreter_lock) F(instr_pthread_levels)

#endif

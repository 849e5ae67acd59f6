/*
 * Probes: the C functions that generated stubs call (design decision "one probe, three linkages").
 *
 * Every probe takes the real function first, then the constants named in the description file
 * (instr-rewrite/api/…), then the real function's own arguments, and returns what the real function returns. Types are those
 * of libgomp (GCC 7 to 17); `fn` is an outlined body, `cpyfn` a copy constructor of task data.
 */
#ifndef INSTR_PROBES_H
#define INSTR_PROBES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instr/kinds.h"

typedef void instr_fn(void *);
typedef void instr_cpyfn(void *, void *);
typedef unsigned long long instr_ull;
/* Of GCC 17's static loops: number of threads, number of this thread. */
__extension__ typedef _Complex int instr_complex_int;

/* Given as a constant in a description: where the stub returns to. */
#define INSTR_CALLER ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/* Parallel constructs. `schedule` is a constant from the description. */
void instr_probe_parallel(void (*real)(instr_fn *, void *, unsigned, unsigned), instr_fn *fn, void *data, unsigned num_threads,
                          unsigned flags);
unsigned instr_probe_parallel_reductions(unsigned (*real)(instr_fn *, void *, unsigned, unsigned), instr_fn *fn, void *data,
                                         unsigned num_threads, unsigned flags);
void instr_probe_parallel_loop(void (*real)(instr_fn *, void *, unsigned, long, long, long, long, unsigned), unsigned schedule,
                               instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr, long chunk,
                               unsigned flags);
void instr_probe_parallel_loop_runtime(void (*real)(instr_fn *, void *, unsigned, long, long, long, unsigned), unsigned schedule,
                                       instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr,
                                       unsigned flags);
void instr_probe_parallel_sections(void (*real)(instr_fn *, void *, unsigned, unsigned, unsigned), instr_fn *fn, void *data,
                                   unsigned num_threads, unsigned count, unsigned flags);
/* Before GCC 4.9: the caller runs `fn` itself between start and end. */
void instr_probe_parallel_start(void (*real)(instr_fn *, void *, unsigned), instr_fn *fn, void *data, unsigned num_threads);
void instr_probe_parallel_loop_start(void (*real)(instr_fn *, void *, unsigned, long, long, long, long), unsigned schedule,
                                     instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr, long chunk);
void instr_probe_parallel_loop_runtime_start(void (*real)(instr_fn *, void *, unsigned, long, long, long), unsigned schedule,
                                             instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr);
void instr_probe_parallel_sections_start(void (*real)(instr_fn *, void *, unsigned, unsigned), instr_fn *fn, void *data,
                                         unsigned num_threads, unsigned count);
void instr_probe_parallel_end(void (*real)(void));
/* A league of teams on the host. */
void instr_probe_teams(void (*real)(instr_fn *, void *, unsigned, unsigned, unsigned), instr_fn *fn, void *data, unsigned num_teams,
                       unsigned thread_limit, unsigned flags);

/* Work-sharing loops. */
bool instr_probe_loop_start(bool (*real)(long, long, long, long, long *, long *), unsigned schedule, long start, long end, long incr,
                            long chunk, long *istart, long *iend);
bool instr_probe_loop_runtime_start(bool (*real)(long, long, long, long *, long *), unsigned schedule, long start, long end,
                                    long incr, long *istart, long *iend);
bool instr_probe_loop_generic_start(bool (*real)(long, long, long, long, long, long *, long *, uintptr_t *, void **),
                                    unsigned schedule, long start, long end, long incr, long sched, long chunk, long *istart,
                                    long *iend, uintptr_t *reductions, void **mem);
bool instr_probe_loop_next(bool (*real)(long *, long *), long *istart, long *iend);
bool instr_probe_loop_ull_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, instr_ull, instr_ull *, instr_ull *),
                                unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr, instr_ull chunk,
                                instr_ull *istart, instr_ull *iend);
bool instr_probe_loop_ull_runtime_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, instr_ull *, instr_ull *),
                                        unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr,
                                        instr_ull *istart, instr_ull *iend);
bool instr_probe_loop_ull_generic_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, long, instr_ull, instr_ull *,
                                                     instr_ull *, uintptr_t *, void **),
                                        unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr, long sched,
                                        instr_ull chunk, instr_ull *istart, instr_ull *iend, uintptr_t *reductions, void **mem);
bool instr_probe_loop_ull_next(bool (*real)(instr_ull *, instr_ull *), instr_ull *istart, instr_ull *iend);
bool instr_probe_loop_doacross_start(bool (*real)(unsigned, long *, long, long *, long *), unsigned schedule, unsigned ncounts,
                                     long *counts, long chunk, long *istart, long *iend);
bool instr_probe_loop_doacross_runtime_start(bool (*real)(unsigned, long *, long *, long *), unsigned schedule, unsigned ncounts,
                                             long *counts, long *istart, long *iend);
bool instr_probe_loop_doacross_generic_start(bool (*real)(unsigned, long *, long, long, long *, long *, uintptr_t *, void **),
                                             unsigned schedule, unsigned ncounts, long *counts, long sched, long chunk,
                                             long *istart, long *iend, uintptr_t *reductions, void **mem);
bool instr_probe_loop_ull_doacross_start(bool (*real)(unsigned, instr_ull *, instr_ull, instr_ull *, instr_ull *),
                                         unsigned schedule, unsigned ncounts, instr_ull *counts, instr_ull chunk,
                                         instr_ull *istart, instr_ull *iend);
bool instr_probe_loop_ull_doacross_runtime_start(bool (*real)(unsigned, instr_ull *, instr_ull *, instr_ull *), unsigned schedule,
                                                 unsigned ncounts, instr_ull *counts, instr_ull *istart, instr_ull *iend);
bool instr_probe_loop_ull_doacross_generic_start(bool (*real)(unsigned, instr_ull *, long, instr_ull, instr_ull *, instr_ull *,
                                                              uintptr_t *, void **),
                                                 unsigned schedule, unsigned ncounts, instr_ull *counts, long sched,
                                                 instr_ull chunk, instr_ull *istart, instr_ull *iend, uintptr_t *reductions,
                                                 void **mem);
void instr_probe_loop_end(void (*real)(void));
void instr_probe_loop_end_nowait(void (*real)(void));
bool instr_probe_loop_end_cancel(bool (*real)(void));
void instr_probe_doacross_post(void (*real)(long *), long *vector);
void instr_probe_doacross_ull_post(void (*real)(instr_ull *), instr_ull *vector);
/* `rest` holds the arguments behind the first. */
void instr_probe_doacross_wait(void (*real)(long, ...), long first, va_list rest);
void instr_probe_doacross_ull_wait(void (*real)(instr_ull, ...), instr_ull first, va_list rest);

/* Static loops: the two calls that GCC 16 and before begin them with, and the functions of GCC 17. `site` is INSTR_CALLER. */
int instr_probe_get_num_threads(int (*real)(void), uintptr_t site);
int instr_probe_get_thread_num(int (*real)(void), uintptr_t site);
instr_complex_int instr_probe_static_loop(instr_complex_int (*real)(instr_ull), uintptr_t site, instr_ull iterations);
instr_complex_int instr_probe_static_loop_start(instr_complex_int (*real)(instr_ull), unsigned schedule, instr_ull iterations);
void instr_probe_static_loop_dispatch(void (*real)(instr_ull, instr_ull), instr_ull start, instr_ull iterations);

/* Sections, single, scope, masked. */
unsigned instr_probe_sections_start(unsigned (*real)(unsigned), unsigned count);
unsigned instr_probe_sections2_start(unsigned (*real)(unsigned, uintptr_t *, void **), unsigned count, uintptr_t *reductions,
                                     void **mem);
unsigned instr_probe_sections_next(unsigned (*real)(void));
void instr_probe_sections_end(void (*real)(void));
void instr_probe_sections_end_nowait(void (*real)(void));
bool instr_probe_sections_end_cancel(bool (*real)(void));
bool instr_probe_single_start(bool (*real)(void));
void *instr_probe_single_copy_start(void *(*real)(void));
void instr_probe_single_copy_end(void (*real)(void *), void *data);
void instr_probe_single_end(void (*real)(void));
bool instr_probe_masked_begin(bool (*real)(int), int thread);
void instr_probe_masked_end(void (*real)(void));
void instr_probe_scope_start(void (*real)(uintptr_t *), uintptr_t *reductions);
/* GOMP_workshare_task_reduction_unregister. */
void instr_probe_reductions_end(void (*real)(bool), bool cancelled);

/*
 * Mutual exclusion. `kind` is a constant from the description; `test`, which may be NULL, tries to take the lock and returns 0 where it is not free;
 * `site` is INSTR_CALLER.
 */
void instr_probe_mutex_enter(void (*real)(void), unsigned kind);
void instr_probe_mutex_leave(void (*real)(void), unsigned kind);
void instr_probe_critical_name_start(void (*real)(void **), void **lock);
void instr_probe_critical_name_end(void (*real)(void **), void **lock);
void instr_probe_lock_take(void (*real)(void *), int (*test)(void *), unsigned kind, uintptr_t site, void *lock);
void instr_probe_lock_unset(void (*real)(void *), unsigned kind, void *lock);
int instr_probe_lock_test(int (*real)(void *), unsigned kind, void *lock);

/* Synchronization and cancellation. */
void instr_probe_barrier(void (*real)(void));
bool instr_probe_barrier_cancel(bool (*real)(void));
void instr_probe_barrier_ext(void (*real)(int), int kind);
bool instr_probe_barrier_cancel_ext(bool (*real)(int), int kind);
bool instr_probe_cancel(bool (*real)(int, bool), int which, bool do_cancel);
bool instr_probe_cancellation_point(bool (*real)(int), int which);
void instr_probe_taskwait(void (*real)(void));
void instr_probe_taskwait_depend(void (*real)(void **), void **depend);
void instr_probe_taskwait_depend_nowait(void (*real)(void **), void **depend);
void instr_probe_taskyield(void (*real)(void));
void instr_probe_taskgroup_start(void (*real)(void));
void instr_probe_taskgroup_end(void (*real)(void));

/* Tasks. */
void instr_probe_task(void (*real)(instr_fn *, void *, instr_cpyfn *, long, long, bool, unsigned, void **, int, void *),
                      instr_fn *fn, void *data, instr_cpyfn *cpyfn, long arg_size, long arg_align, bool if_clause, unsigned flags,
                      void **depend, int priority, void *detach);
void instr_probe_taskloop(void (*real)(instr_fn *, void *, instr_cpyfn *, long, long, unsigned, unsigned long, int, long, long, long),
                          instr_fn *fn, void *data, instr_cpyfn *cpyfn, long arg_size, long arg_align, unsigned flags,
                          unsigned long num_tasks, int priority, long start, long end, long step);
void instr_probe_taskloop_ull(void (*real)(instr_fn *, void *, instr_cpyfn *, long, long, unsigned, unsigned long, int, instr_ull,
                                           instr_ull, instr_ull),
                              instr_fn *fn, void *data, instr_cpyfn *cpyfn, long arg_size, long arg_align, unsigned flags,
                              unsigned long num_tasks, int priority, instr_ull start, instr_ull end, instr_ull step);

void instr_probe_fulfill(void (*real)(uintptr_t), uintptr_t handle);

/* Device constructs. `kind` is a constant from the description. */
void instr_probe_target_ext(void (*real)(int, instr_fn *, size_t, void **, size_t *, unsigned short *, unsigned, void **, void **),
                            int device, instr_fn *fn, size_t count, void **hostaddrs, size_t *sizes, unsigned short *kinds,
                            unsigned flags, void **depend, void **args);
void instr_probe_target_data_ext(void (*real)(int, size_t, void **, size_t *, unsigned short *), int device, size_t count,
                                 void **hostaddrs, size_t *sizes, unsigned short *kinds);
void instr_probe_target_end_data(void (*real)(void));
void instr_probe_target_update_ext(void (*real)(int, size_t, void **, size_t *, unsigned short *, unsigned, void **), unsigned kind,
                                   int device, size_t count, void **hostaddrs, size_t *sizes, unsigned short *kinds, unsigned flags,
                                   void **depend);
/* As GCC 4.9 and 5 call them. */
void instr_probe_target(void (*real)(int, instr_fn *, const void *, size_t, void **, size_t *, unsigned char *), int device,
                        instr_fn *fn, const void *unused, size_t count, void **hostaddrs, size_t *sizes, unsigned char *kinds);
void instr_probe_target_data(void (*real)(int, const void *, size_t, void **, size_t *, unsigned char *), unsigned kind, int device,
                             const void *unused, size_t count, void **hostaddrs, size_t *sizes, unsigned char *kinds);

/* Memory from OpenMP allocators. `kind` is a constant from the description. */
void *instr_probe_omp_alloc(void *(*real)(size_t, uintptr_t), size_t size, uintptr_t allocator);
void *instr_probe_omp_aligned_alloc(void *(*real)(size_t, size_t, uintptr_t), unsigned kind, size_t align, size_t size,
                                    uintptr_t allocator);
void *instr_probe_omp_calloc(void *(*real)(size_t, size_t, uintptr_t), size_t n, size_t size, uintptr_t allocator);
void *instr_probe_omp_aligned_calloc(void *(*real)(size_t, size_t, size_t, uintptr_t), size_t align, size_t n, size_t size,
                                     uintptr_t allocator);
void *instr_probe_omp_realloc(void *(*real)(void *, size_t, uintptr_t, uintptr_t), void *old, size_t size, uintptr_t allocator,
                              uintptr_t free_allocator);
void instr_probe_omp_free(void (*real)(void *, uintptr_t), unsigned kind, void *address, uintptr_t allocator);

/* Memory of the heap and of the system; `site` is INSTR_CALLER, `kind` a constant from the description. */
enum { INSTR_NEW = 6, INSTR_NEW_ARRAY = 7 };
void *instr_probe_malloc(void *(*real)(size_t), uintptr_t site, size_t size);
void *instr_probe_calloc(void *(*real)(size_t, size_t), uintptr_t site, size_t count, size_t size);
void *instr_probe_realloc(void *(*real)(void *, size_t), uintptr_t site, void *old, size_t size);
void *instr_probe_reallocarray(void *(*real)(void *, size_t, size_t), uintptr_t site, void *old, size_t count, size_t size);
void instr_probe_free(void (*real)(void *), void *address);
int instr_probe_posix_memalign(int (*real)(void **, size_t, size_t), uintptr_t site, void **address, size_t align, size_t size);
void *instr_probe_aligned_alloc(void *(*real)(size_t, size_t), uintptr_t site, size_t align, size_t size);
void *instr_probe_page_alloc(void *(*real)(size_t), uintptr_t site, size_t size);
void *instr_probe_new(void *(*real)(size_t), unsigned kind, uintptr_t site, size_t size);
void *instr_probe_new_nothrow(void *(*real)(size_t, const void *), unsigned kind, uintptr_t site, size_t size, const void *nothrow);
void *instr_probe_new_aligned(void *(*real)(size_t, size_t), unsigned kind, uintptr_t site, size_t size, size_t align);
void *instr_probe_new_aligned_nothrow(void *(*real)(size_t, size_t, const void *), unsigned kind, uintptr_t site, size_t size,
                                      size_t align, const void *nothrow);
void instr_probe_delete(void (*real)(void *), unsigned kind, void *address);
void instr_probe_delete_word(void (*real)(void *, size_t), unsigned kind, void *address, size_t word);
void instr_probe_delete_two_words(void (*real)(void *, size_t, size_t), unsigned kind, void *address, size_t size, size_t align);
void instr_probe_delete_nothrow(void (*real)(void *, const void *), unsigned kind, void *address, const void *nothrow);
void instr_probe_delete_aligned_nothrow(void (*real)(void *, size_t, const void *), unsigned kind, void *address, size_t align,
                                        const void *nothrow);
void *instr_probe_mmap(void *(*real)(void *, size_t, int, int, int, long), uintptr_t site, void *address, size_t length,
                       int protection, int flags, int file, long offset);
void *instr_probe_mmap64(void *(*real)(void *, size_t, int, int, int, int64_t), uintptr_t site, void *address, size_t length,
                         int protection, int flags, int file, int64_t offset);
int instr_probe_munmap(int (*real)(void *, size_t), void *address, size_t length);
/* `rest` holds the new address if `flags` ask for it. */
void *instr_probe_mremap(void *(*real)(void *, size_t, size_t, int, ...), uintptr_t site, void *old, size_t old_length,
                         size_t new_length, int flags, va_list rest);

/* Handlers of signals: none is refused; sampling gives way. */
int instr_probe_sigaction(int (*real)(int, const void *, void *), int signal, const void *action, void *old);
void *instr_probe_signal(void *(*real)(int, void *), int signal, void *handler);
int instr_probe_sigwait(int (*real)(const void *, void *), const void *set, void *found);
int instr_probe_sigtimedwait(int (*real)(const void *, void *, const void *), const void *set, void *found, const void *timeout);
int instr_probe_signalfd(int (*real)(int, const void *, int), int file, const void *set, int flags);

/*
 * Threads of POSIX, C11 and C++. `kind` is INSTR_MUTEX_PTHREAD, _READ, _WRITE or _SPIN; that of an unlock of a read-write lock is _READ.
 */
int instr_probe_pthread_create(int (*real)(unsigned long *, const void *, void *(*)(void *), void *), uintptr_t site, unsigned long *thread,
                               const void *attributes, void *(*function)(void *), void *arg);
int instr_probe_pthread_join(int (*real)(unsigned long, void **), uintptr_t site, unsigned long thread, void **result);
int instr_probe_pthread_timedjoin(int (*real)(unsigned long, void **, const void *), uintptr_t site, unsigned long thread, void **result,
                                  const void *until);
int instr_probe_pthread_clockjoin(int (*real)(unsigned long, void **, int, const void *), uintptr_t site, unsigned long thread, void **result,
                                  int clock, const void *until);
int instr_probe_pthread_setname(int (*real)(unsigned long, const char *), unsigned long thread, const char *name);
int instr_probe_pthread_lock(int (*real)(void *), unsigned kind, uintptr_t site, void *lock);
int instr_probe_pthread_trylock(int (*real)(void *), unsigned kind, uintptr_t site, void *lock);
int instr_probe_pthread_timedlock(int (*real)(void *, const void *), unsigned kind, uintptr_t site, void *lock, const void *until);
int instr_probe_pthread_clocklock(int (*real)(void *, int, const void *), unsigned kind, uintptr_t site, void *lock, int clock,
                                  const void *until);
int instr_probe_pthread_unlock(int (*real)(void *), unsigned kind, void *lock);
int instr_probe_pthread_cond_wait(int (*real)(void *, void *), uintptr_t site, void *condition, void *mutex);
int instr_probe_pthread_cond_timedwait(int (*real)(void *, void *, const void *), uintptr_t site, void *condition, void *mutex,
                                       const void *until);
int instr_probe_pthread_cond_clockwait(int (*real)(void *, void *, int, const void *), uintptr_t site, void *condition, void *mutex, int clock,
                                       const void *until);
int instr_probe_pthread_barrier_wait(int (*real)(void *), uintptr_t site, void *barrier);
int instr_probe_pthread_once(int (*real)(void *, void (*)(void)), uintptr_t site, void *control, void (*function)(void));
int instr_probe_sem_wait(int (*real)(void *), uintptr_t site, void *semaphore);
int instr_probe_sem_timedwait(int (*real)(void *, const void *), uintptr_t site, void *semaphore, const void *until);
int instr_probe_sem_clockwait(int (*real)(void *, int, const void *), uintptr_t site, void *semaphore, int clock, const void *until);
int instr_probe_thrd_create(int (*real)(unsigned long *, int (*)(void *), void *), uintptr_t site, unsigned long *thread,
                            int (*function)(void *), void *arg);
int instr_probe_thrd_join(int (*real)(unsigned long, int *), uintptr_t site, unsigned long thread, int *result);
void instr_probe_call_once(void (*real)(void *, void (*)(void)), uintptr_t site, void *control, void (*function)(void));
/* `owner` is a unique_ptr to what the thread runs, `lock` a unique_lock. */
void instr_probe_cxx_thread(void (*real)(void *, void *, void (*)(void)), uintptr_t site, void *thread, void *owner, void (*depend)(void));
void instr_probe_cxx_join(void (*real)(void *), uintptr_t site, void *thread);
void instr_probe_cxx_wait(void (*real)(void *, void *), uintptr_t site, void *condition, void *lock);
bool instr_probe_cxx_future(bool (*real)(void *, void *, unsigned, bool, long, long), uintptr_t site, void *future, void *word, unsigned value,
                            bool has_end, long seconds, long nanoseconds);

/* Process end: _exit, _Exit. The trace is closed, then the real function called. */
void instr_probe_process_exit(void (*real)(int), int status);

/* A call that a generated stub records. It lies in the stub's frame: its place says which calls have been left when another one begins or ends. */
struct instr_call {
    uint64_t result; /* in 64 bits, as arguments; 0: none, or the call was left by an exception, a jump, or the thread's end */
};

/*
 * Generated stubs of described functions without a probe: `name` is a string literal of the stub, `args` the declared
 * arguments converted to 64 bits (pointers and integers by value, floating point by bit pattern).
 */
void instr_call_enter(const struct instr_call *call, const char *name, uint32_t count, const uint64_t *args);
/* The stub's cleanup: an exception that passes by ends the call too. */
void instr_call_leave(const struct instr_call *call);

#endif

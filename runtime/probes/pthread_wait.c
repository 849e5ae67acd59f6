/* Waits for conditions, barriers, semaphores, functions that run once, and the ends of threads. */
#include "core/cold.h"

#include "probes/pthread.h"

#include <stdatomic.h>

#include "instr/functions.h"
#include "platform/platform.h"

_Thread_local struct instr_pthread_own instr_pthread_own INSTR_TLS;

struct instr_thread *instr_pthread_slow(uint32_t level)
{
    struct instr_thread *const t = instr_thread();
#if !INSTR_KEEPS_RUNS
    static atomic_flag read = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&read))
        instr_pthread_settings();
#endif
    if (t == NULL || level > instr_pthread_level) /* the first event begins the record of a process, which reads the setting */
        return NULL;
    if (instr_pthread_own.waiting != 0)
        instr_pthread_wait_ends(t);
    return t;
}

void instr_pthread_wait_begins(struct instr_thread *t, unsigned kind, const void *object, const void *mutex, uintptr_t site)
{
    struct instr_pthread_own *const own = &instr_pthread_own;
    if (mutex != NULL && instr_pthread_level >= INSTR_PTHREAD_ALL)
        instr_pthread_event_of(t, INSTR_EV_MUTEX_RELEASED, INSTR_MUTEX_PTHREAD, mutex);
    instr_pthread_event(t, INSTR_EV_WAIT, kind, object, site);
    own->mutex = mutex;
    own->site = site;
    own->waiting = kind;
}

void instr_pthread_wait_ends(struct instr_thread *t)
{
    struct instr_pthread_own *const own = &instr_pthread_own;
    const uint32_t kind = own->waiting;
    const void *const mutex = own->mutex;
    if (kind == 0)
        return;
    own->waiting = 0;
    own->outer = false;
    instr_event1(t, INSTR_EV_SYNC_END, kind);
    if (mutex != NULL && instr_pthread_level >= INSTR_PTHREAD_ALL)
        instr_pthread_event(t, INSTR_EV_LOCK_TAKEN, INSTR_MUTEX_PTHREAD, mutex, own->site);
}

/* A wait around a call. The thread may end in it, and the process be another one behind it. */
#define WAIT(level, kind, object, mutex, site, call)                         \
    struct instr_thread *t = instr_pthread_thread(level);                    \
    if (t != NULL)                                                           \
        instr_pthread_wait_begins(t, (kind), (object), (mutex), (site));     \
    call;                                                                    \
    if (t != NULL)                                                           \
        instr_pthread_wait_ends(t)

/* The condition by which threads wait for the lock of a language's interpreter. */
static struct {
    const void *condition;
    uint32_t (*holder)(void);
} interpreter;

void instr_interpreter_lock(const void *condition, uint32_t (*holder)(void))
{
    interpreter.holder = holder;
    __atomic_store_n(&interpreter.condition, condition, __ATOMIC_RELEASE);
}

/* What kind of wait that for a condition is; of the interpreter's lock the object is the thread that has it. */
static unsigned kind_of(const void **object)
{
    if (INSTR_LIKELY(*object != __atomic_load_n(&interpreter.condition, __ATOMIC_ACQUIRE)) || *object == NULL)
        return INSTR_SYNC_CONDITION;
    *object = (const void *)(uintptr_t)interpreter.holder();
    return INSTR_SYNC_INTERPRETER;
}

/* A wait for a condition around a call. */
#define WAIT_FOR_CONDITION(call)                                             \
    const void *object = condition;                                          \
    const unsigned kind = kind_of(&object);                                  \
    WAIT(INSTR_PTHREAD_WAITS, kind, object, mutex, site, call)

int instr_probe_pthread_cond_wait(int (*real)(void *, void *), uintptr_t site, void *condition, void *mutex)
{
    if (instr_pthread_is_inner())
        return real(condition, mutex);
    WAIT_FOR_CONDITION(const int result = real(condition, mutex));
    return result;
}

int instr_probe_pthread_cond_timedwait(int (*real)(void *, void *, const void *), uintptr_t site, void *condition, void *mutex, const void *until)
{
    WAIT_FOR_CONDITION(const int result = real(condition, mutex, until));
    return result;
}

int instr_probe_pthread_cond_clockwait(int (*real)(void *, void *, int, const void *), uintptr_t site, void *condition, void *mutex, int clock,
                                       const void *until)
{
    WAIT_FOR_CONDITION(const int result = real(condition, mutex, clock, until));
    return result;
}

int instr_probe_pthread_barrier_wait(int (*real)(void *), uintptr_t site, void *barrier)
{
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_PTHREAD_BARRIER, barrier, NULL, site, const int result = real(barrier));
    return result;
}

int instr_probe_pthread_join(int (*real)(unsigned long, void **), uintptr_t site, unsigned long thread, void **result)
{
    if (instr_pthread_is_inner())
        return real(thread, result);
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_JOIN, (const void *)thread, NULL, site, const int failed = real(thread, result));
    return failed;
}

int instr_probe_pthread_timedjoin(int (*real)(unsigned long, void **, const void *), uintptr_t site, unsigned long thread, void **result,
                                  const void *until)
{
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_JOIN, (const void *)thread, NULL, site, const int failed = real(thread, result, until));
    return failed;
}

int instr_probe_pthread_clockjoin(int (*real)(unsigned long, void **, int, const void *), uintptr_t site, unsigned long thread, void **result,
                                  int clock, const void *until)
{
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_JOIN, (const void *)thread, NULL, site, const int failed = real(thread, result, clock, until));
    return failed;
}

int instr_probe_thrd_join(int (*real)(unsigned long, int *), uintptr_t site, unsigned long thread, int *result)
{
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_JOIN, (const void *)thread, NULL, site, const int failed = real(thread, result));
    return failed;
}

/* Of less than all, a semaphore that is free is none. What is a cancellation point stays one. */
static bool semaphore_is_free(void *semaphore)
{
    if (instr_pthread_level >= INSTR_PTHREAD_ALL || instr_pthread_thread(INSTR_PTHREAD_WAITS) == NULL)
        return false;
    instr_platform_test_cancel();
    instr_pthread_own.trying = true;
    const bool got = instr_platform_semaphore_try(semaphore);
    instr_pthread_own.trying = false;
    return got;
}

int instr_probe_sem_wait(int (*real)(void *), uintptr_t site, void *semaphore)
{
    if (semaphore_is_free(semaphore))
        return 0;
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_SEMAPHORE, semaphore, NULL, site, const int failed = real(semaphore));
    return failed;
}

int instr_probe_sem_timedwait(int (*real)(void *, const void *), uintptr_t site, void *semaphore, const void *until)
{
    if (instr_platform_is_time(0, until) && semaphore_is_free(semaphore))
        return 0;
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_SEMAPHORE, semaphore, NULL, site, const int failed = real(semaphore, until));
    return failed;
}

int instr_probe_sem_clockwait(int (*real)(void *, int, const void *), uintptr_t site, void *semaphore, int clock, const void *until)
{
    if (instr_platform_is_time(clock, until) && semaphore_is_free(semaphore))
        return 0;
    WAIT(INSTR_PTHREAD_WAITS, INSTR_SYNC_SEMAPHORE, semaphore, NULL, site, const int failed = real(semaphore, clock, until));
    return failed;
}

/* The thread that runs the function no longer waits. */
static void run_once(void)
{
    struct instr_pthread_own *const own = &instr_pthread_own;
    void (*const function)(void) = own->once;
    if (own->waiting == INSTR_SYNC_ONCE && instr_self != NULL)
        instr_pthread_wait_ends(instr_self);
    function();
}

static struct instr_thread *once_begins(void (*function)(void), const void *control, uintptr_t site)
{
    struct instr_thread *const t = instr_platform_has_run(control) ? NULL : instr_pthread_thread(INSTR_PTHREAD_WAITS);
    if (t != NULL) {
        instr_pthread_own.once = function;
        instr_pthread_wait_begins(t, INSTR_SYNC_ONCE, control, NULL, site);
    }
    return t;
}

/* The function may have used the same call, which is over. */
static void once_ends(struct instr_thread *t)
{
    if (t != NULL && instr_pthread_own.waiting == INSTR_SYNC_ONCE)
        instr_pthread_wait_ends(t);
}

int instr_probe_pthread_once(int (*real)(void *, void (*)(void)), uintptr_t site, void *control, void (*function)(void))
{
    struct instr_thread *const t = once_begins(function, control, site);
    const int failed = real(control, t != NULL ? run_once : function);
    once_ends(t);
    return failed;
}

void instr_probe_call_once(void (*real)(void *, void (*)(void)), uintptr_t site, void *control, void (*function)(void))
{
    struct instr_thread *const t = once_begins(function, control, site);
    real(control, t != NULL ? run_once : function);
    once_ends(t);
}

/*
 * Threads are made. What a new thread begins with is put behind a function of ours, which records its begin: a thread that never calls anything is
 * seen too. Its end is seen by the platform.
 */
#include "core/cold.h"

#include "probes/pthread.h"

#include "platform/platform.h"
#include "probes/large_block.h"
#include "probes/pthread_start.h"

/* The part of a static libgomp that makes threads, which are told by its constructs. These two stand in one object, one behind the other. */
void gomp_team_start(void) __attribute__((weak));
void gomp_team_end(void) __attribute__((weak));

static bool is_of_openmp(uintptr_t site)
{
    return site >= (uintptr_t)gomp_team_start && site < (uintptr_t)gomp_team_end;
}

static void told(struct instr_thread *t, uint32_t seq, uintptr_t function, uintptr_t site)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_THREAD_CREATE, 1 + 2 * INSTR_ADDR_WORDS);
    if (p == NULL)
        return;
    instr_put_addr(instr_put_addr(instr_put32(p, seq), function), site);
    instr_close(&s);
}

void instr_pthread_creates(struct instr_thread *t, struct instr_pthread_start *start, uintptr_t function, uintptr_t site)
{
    start->creator = t->index;
    start->seq = instr_pthread_own.creations++;
    start->function = function;
    instr_pthread_made = true;
    told(t, start->seq, function, site);
}

void instr_pthread_created(struct instr_thread *t, int error)
{
    instr_event1(t, INSTR_EV_THREAD_CREATED, (uint32_t)error);
}

void instr_pthread_starts(const struct instr_pthread_start *start)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_THREADS);
    struct instr_slot s;
    uint32_t *p = t == NULL ? NULL : instr_open(t, &s, INSTR_EV_THREAD_START, 2 + 2 * INSTR_ADDR_WORDS);
    if (p == NULL)
        return;
    p = instr_put32(instr_put32(p, start->creator), start->seq);
    instr_put_addr(instr_put_addr(p, start->function), instr_platform_self());
    instr_close(&s);
}

/* What a new thread of POSIX or C11 gets. */
struct begin {
    struct instr_pthread_start start;
    void *(*posix)(void *);
    int (*c11)(void *);
    void *arg;
};

static __attribute__((noinline)) void begins(struct begin *begin)
{
    const struct instr_pthread_start start = begin->start;
    instr_large_block_free(begin);
    instr_pthread_starts(&start);
}

/* These jump to the program's function: none of our stack lies below the thread's. */
static void *run(void *block)
{
    void *(*const function)(void *) = ((struct begin *)block)->posix;
    void *const arg = ((struct begin *)block)->arg;
    begins(block);
    return function(arg);
}

static int run_c11(void *block)
{
    int (*const function)(void *) = ((struct begin *)block)->c11;
    void *const arg = ((struct begin *)block)->arg;
    begins(block);
    return function(arg);
}

/* What the thread gets that the caller makes; NULL: it is not recorded. */
static struct begin *prepare(struct instr_thread *t, uintptr_t function, uintptr_t site)
{
    struct begin *const begin = t == NULL ? NULL : instr_large_block(sizeof *begin);
    if (begin != NULL)
        instr_pthread_creates(t, &begin->start, function, site);
    return begin;
}

static void ends(struct instr_thread *t, struct begin *begin, int error)
{
    if (error != 0)
        instr_large_block_free(begin);
    instr_pthread_created(t, error);
}

int instr_probe_pthread_create(int (*real)(unsigned long *, const void *, void *(*)(void *), void *), uintptr_t site, unsigned long *thread,
                               const void *attributes, void *(*function)(void *), void *arg)
{
    if (instr_pthread_is_inner() || is_of_openmp(site))
        return real(thread, attributes, function, arg);
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_THREADS);
    struct begin *const begin = prepare(t, (uintptr_t)function, site);
    if (begin == NULL)
        return real(thread, attributes, function, arg);
    begin->posix = function;
    begin->arg = arg;
    const int error = real(thread, attributes, run, begin);
    ends(t, begin, error);
    return error;
}

int instr_probe_thrd_create(int (*real)(unsigned long *, int (*)(void *), void *), uintptr_t site, unsigned long *thread, int (*function)(void *),
                            void *arg)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_THREADS);
    struct begin *const begin = prepare(t, (uintptr_t)function, site);
    if (begin == NULL)
        return real(thread, function, arg);
    begin->c11 = function;
    begin->arg = arg;
    const int error = real(thread, run_c11, begin);
    ends(t, begin, error);
    return error;
}

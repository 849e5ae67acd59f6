/* A runtime as small as can be: every probe counts its calls by name; the counts are printed when the program ends. */
#include <instr/probes.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

static struct {
    const char *name;
    unsigned long calls;
} counts[MOST];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void count(const char *name)
{
    int i = 0;
    pthread_mutex_lock(&mutex);
    while (counts[i].name && strcmp(counts[i].name, name) != 0)
        i++;
    counts[i].name = name;
    counts[i].calls++;
    pthread_mutex_unlock(&mutex);
}

__attribute__((__destructor__)) static void print_counts(void)
{
    for (int i = 0; i < MOST && counts[i].name; i++)
        fprintf(stderr, "%s %lu\n", counts[i].name, counts[i].calls);
}

void instr_probe_parallel(void (*real)(instr_fn *, void *, unsigned, unsigned), instr_fn *fn, void *data, unsigned num_threads,
                          unsigned flags)
{
    count("parallel");
    real(fn, data, num_threads, flags);
}

void instr_probe_parallel_loop(void (*real)(instr_fn *, void *, unsigned, long, long, long, long, unsigned), unsigned schedule,
                               instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr, long chunk,
                               unsigned flags)
{
    count(schedule & INSTR_LOOP_COMBINED ? "parallel_loop" : "wrong schedule");
    real(fn, data, num_threads, start, end, incr, chunk, flags);
}

bool instr_probe_loop_start(bool (*real)(long, long, long, long, long *, long *), unsigned schedule, long start, long end, long incr,
                            long chunk, long *istart, long *iend)
{
    count(schedule & INSTR_LOOP_ORDERED ? "ordered loop_start" : schedule & INSTR_LOOP_NONMONOTONIC ? "loop_start" : "wrong schedule");
    return real(start, end, incr, chunk, istart, iend);
}

bool instr_probe_loop_ull_runtime_start(bool (*real)(bool, instr_ull, instr_ull, instr_ull, instr_ull *, instr_ull *),
                                        unsigned schedule, bool up, instr_ull start, instr_ull end, instr_ull incr,
                                        instr_ull *istart, instr_ull *iend)
{
    count(schedule & INSTR_LOOP_ULL ? "loop_ull_runtime_start" : "wrong schedule");
    return real(up, start, end, incr, istart, iend);
}

bool instr_probe_loop_next(bool (*real)(long *, long *), long *istart, long *iend)
{
    count("loop_next");
    return real(istart, iend);
}

bool instr_probe_loop_ull_next(bool (*real)(instr_ull *, instr_ull *), instr_ull *istart, instr_ull *iend)
{
    count("loop_ull_next");
    return real(istart, iend);
}

unsigned instr_probe_sections_start(unsigned (*real)(unsigned), unsigned sections)
{
    count("sections_start");
    return real(sections);
}

unsigned instr_probe_sections_next(unsigned (*real)(void))
{
    count("sections_next");
    return real();
}

bool instr_probe_single_start(bool (*real)(void))
{
    count("single_start");
    return real();
}

#define PLAIN(name)                               \
    void instr_probe_##name(void (*real)(void)); \
    void instr_probe_##name(void (*real)(void))  \
    {                                             \
        count(#name);                             \
        real();                                   \
    }
PLAIN(loop_end)
PLAIN(loop_end_nowait)
PLAIN(sections_end)
PLAIN(sections_end_nowait)
PLAIN(barrier)
PLAIN(taskwait)
PLAIN(taskyield)
PLAIN(taskgroup_start)
PLAIN(taskgroup_end)

static const char *const kinds[] = { "none", "critical", "name", "atomic", "ordered", "lock", "nest lock" };

void instr_probe_mutex_enter(void (*real)(void), unsigned kind)
{
    count("enter");
    count(kinds[kind]);
    real();
}

void instr_probe_mutex_leave(void (*real)(void), unsigned kind)
{
    count("leave");
    count(kinds[kind]);
    real();
}

void instr_probe_critical_name_start(void (*real)(void **), void **lock)
{
    count("critical_name_start");
    real(lock);
}

void instr_probe_critical_name_end(void (*real)(void **), void **lock)
{
    count("critical_name_end");
    real(lock);
}

void instr_probe_lock_take(void (*real)(void *), int (*test)(void *), unsigned kind, uintptr_t site, void *lock)
{
    count("lock_take");
    count(kinds[kind]);
    if (test == NULL || site == 0)
        count("wrong: nothing to try");
    real(lock);
}

void instr_probe_lock_unset(void (*real)(void *), unsigned kind, void *lock)
{
    count("lock_unset");
    count(kinds[kind]);
    real(lock);
}

void instr_probe_task(void (*real)(instr_fn *, void *, instr_cpyfn *, long, long, bool, unsigned, void **, int, void *),
                      instr_fn *fn, void *data, instr_cpyfn *cpyfn, long arg_size, long arg_align, bool if_clause, unsigned flags,
                      void **depend, int priority, void *detach)
{
    count("task");
    real(fn, data, cpyfn, arg_size, arg_align, if_clause, flags, depend, priority, detach);
}

void instr_probe_taskloop(void (*real)(instr_fn *, void *, instr_cpyfn *, long, long, unsigned, unsigned long, int, long, long, long),
                          instr_fn *fn, void *data, instr_cpyfn *cpyfn, long arg_size, long arg_align, unsigned flags,
                          unsigned long num_tasks, int priority, long start, long end, long step)
{
    count("taskloop");
    real(fn, data, cpyfn, arg_size, arg_align, flags, num_tasks, priority, start, end, step);
}

void instr_call_enter(const struct instr_call *call, const char *name, uint32_t arguments, const uint64_t *args)
{
    count(call->result == 0 && arguments == 1 && args[0] != 0 ? name : "wrong arguments");
}

void instr_call_leave(const struct instr_call *call)
{
    count(call->result == 0 ? "end of call" : "wrong result");
}

// What the library routines answer, everywhere they can be asked: printed by one thread, in a fixed order. The end-to-end tests run it under
// many settings (tests/tests/e2e/transparency.rs).
//
//# Flags: -O1 -fopenmp
//# Flags@sparc-linux: -latomic
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: tasks.created = 2
#include <omp.h>
#include <stdio.h>

#define MOST 64

struct answers {
    int level, active, thread, threads, most, ancestor, size, parallel, final, bind, cancel, limit, levels;
};

static struct answers ask(void)
{
    const int level = omp_get_level();
    return (struct answers){level,
                            omp_get_active_level(),
                            omp_get_thread_num(),
                            omp_get_num_threads(),
                            omp_get_max_threads(),
                            omp_get_ancestor_thread_num(level),
                            omp_get_team_size(level),
                            omp_in_parallel(),
                            omp_in_final(),
                            (int)omp_get_proc_bind(),
                            omp_get_cancellation(),
                            omp_get_thread_limit(),
                            omp_get_max_active_levels()};
}

static void tell(const char *where, const struct answers *a)
{
    printf("%-12s level %d active %d thread %d of %d, at most %d; itself %d of %d; parallel %d final %d bind %d cancel %d limit %d levels %d\n",
           where, a->level, a->active, a->thread, a->threads, a->most, a->ancestor, a->size, a->parallel, a->final, a->bind, a->cancel,
           a->limit, a->levels);
}

static void regions(void)
{
    struct answers outer[MOST] = {{0}}, inner[MOST] = {{0}};
    int count = 0, nested = 0;
#pragma omp parallel shared(outer, inner, count, nested)
    {
        const int me = omp_get_thread_num();
        if (me < MOST)
            outer[me] = ask();
#pragma omp barrier
        if (me == 0) { /* one at a time, so that a limit of threads leaves no choice */
            count = omp_get_num_threads();
#pragma omp parallel num_threads(2) shared(inner, nested)
            {
                const int it = omp_get_thread_num();
                if (it < MOST)
                    inner[it] = ask();
#pragma omp single
                nested = omp_get_num_threads();
            }
        }
    }
    if (omp_get_dynamic()) /* then the number of threads is the library's choice, by the machine's load */
        return;
    printf("threads %d\n", count);
    for (int i = 0; i < count && i < MOST; i++)
        tell("region", &outer[i]);
    for (int i = 0; i < nested && i < MOST; i++)
        tell("nested", &inner[i]);
}

static void tasks(void)
{
    struct answers task, last, group, single;
#pragma omp parallel num_threads(1)
#pragma omp single
    {
        single = ask();
#pragma omp task shared(task)
        task = ask();
#pragma omp taskwait
#pragma omp taskgroup
        {
#pragma omp task shared(last) final(1)
            last = ask();
            group = ask();
        }
    }
    tell("single", &single);
    tell("task", &task);
    tell("final", &last);
    tell("taskgroup", &group);
}

int main(void)
{
    omp_sched_t kind;
    int chunk;
    const struct answers initial = ask();
    tell("initial", &initial);
    omp_get_schedule(&kind, &chunk);
    printf("schedule %x chunk %d dynamic %d priority %d processors %d places %d\n", (unsigned)kind, chunk, omp_get_dynamic(),
           omp_get_max_task_priority(), omp_get_num_procs(), omp_get_num_places());
    printf("devices %d initial %d teams %d of %d\n", omp_get_num_devices(), omp_is_initial_device(), omp_get_team_num(),
           omp_get_num_teams());
    regions();
    tasks();
    omp_set_num_threads(2);
    omp_set_schedule(omp_sched_guided, 5);
    regions();
    omp_get_schedule(&kind, &chunk);
    printf("schedule %x chunk %d\n", (unsigned)kind, chunk);
    const struct answers final = ask();
    tell("end", &final);
    return 0;
}

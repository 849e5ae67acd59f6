/* Parallel constructs: one call each since GCC 4.9. The header lives on this stack: the call returns after the closing barrier. */
#include "probes/team.h"

static inline __attribute__((always_inline)) void region_close(struct instr_thread *t, uint32_t seq)
{
    instr_point(t, INSTR_AT_REGION);
    instr_event1(t, INSTR_EV_PARALLEL_END, seq);
}

/*
 * The header alone in one cache line: the other threads of the team read it while this one goes on writing its stack. Where two
 * processors do not share a cache, a header across two lines, or beside other variables, costs some 150 ns a region.
 */
struct line {
    _Alignas(64) struct instr_team team;
    char rest[64 - sizeof(struct instr_team)];
};

/* Not an initializer: that would clear the rest of the line as well. */
#define FILL(line, work_) \
    ((line).team = (struct instr_team){.reductions = 0, .fn = fn, .data = data, .thread = t->index, .seq = seq, .work = (work_)})

void instr_probe_parallel(void (*real)(instr_fn *, void *, unsigned, unsigned), instr_fn *fn, void *data, unsigned num_threads,
                          unsigned flags)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        real(fn, data, num_threads, flags);
        return;
    }
    const uint32_t seq = instr_region_open(t, fn, num_threads, INSTR_PARALLEL_REGION);
    struct line line;
    FILL(line, NULL);
    real(instr_team_body, &line.team, num_threads, flags);
    region_close(t, seq);
}

unsigned instr_probe_parallel_reductions(unsigned (*real)(instr_fn *, void *, unsigned, unsigned), instr_fn *fn, void *data,
                                         unsigned num_threads, unsigned flags)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL)
        return real(fn, data, num_threads, flags);
    const uint32_t seq = instr_region_open(t, fn, num_threads, INSTR_PARALLEL_REGION);
    struct line line;
    FILL(line, NULL);
    line.team.reductions = *(uintptr_t *)data;
    const unsigned used = real(instr_team_body, &line.team, num_threads, flags);
    region_close(t, seq);
    return used;
}

void instr_probe_parallel_loop(void (*real)(instr_fn *, void *, unsigned, long, long, long, long, unsigned), unsigned schedule,
                               instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr, long chunk,
                               unsigned flags)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        real(fn, data, num_threads, start, end, incr, chunk, flags);
        return;
    }
    const uint32_t seq = instr_region_open(t, fn, num_threads, INSTR_PARALLEL_LOOP);
    const struct instr_work work = {INSTR_PARALLEL_LOOP, schedule, 0, start, end, incr, chunk};
    struct line line;
    FILL(line, &work);
    real(instr_team_body, &line.team, num_threads, start, end, incr, chunk, flags);
    region_close(t, seq);
}

void instr_probe_parallel_loop_runtime(void (*real)(instr_fn *, void *, unsigned, long, long, long, unsigned), unsigned schedule,
                                       instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr,
                                       unsigned flags)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        real(fn, data, num_threads, start, end, incr, flags);
        return;
    }
    const uint32_t seq = instr_region_open(t, fn, num_threads, INSTR_PARALLEL_LOOP);
    const struct instr_work work = {INSTR_PARALLEL_LOOP, schedule, 0, start, end, incr, 0};
    struct line line;
    FILL(line, &work);
    real(instr_team_body, &line.team, num_threads, start, end, incr, flags);
    region_close(t, seq);
}

void instr_probe_parallel_sections(void (*real)(instr_fn *, void *, unsigned, unsigned, unsigned), instr_fn *fn, void *data,
                                   unsigned num_threads, unsigned count, unsigned flags)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        real(fn, data, num_threads, count, flags);
        return;
    }
    const uint32_t seq = instr_region_open(t, fn, num_threads, INSTR_PARALLEL_SECTIONS);
    const struct instr_work work = {INSTR_PARALLEL_SECTIONS, 0, count, 0, 0, 0, 0};
    struct line line;
    FILL(line, &work);
    real(instr_team_body, &line.team, num_threads, count, flags);
    region_close(t, seq);
}

/*
 * The split forms of GCC before 4.9: the program calls …_start, runs the body itself, then calls GOMP_parallel_end. Other members
 * of the team run the body from inside the OpenMP runtime, so the header must live until the end: it is kept in the thread's
 * window block, for DEPTH nested regions; deeper ones are not recorded.
 */
#include "core/cold.h"

#include "probes/team.h"

struct __attribute__((may_alias)) split_header { /* the window's block is declared as plain words */
    struct instr_team team;
    struct instr_work work;
    struct instr_outer outer;
    bool recorded;
};

#define DEPTH (INSTR_SPLIT_BYTES / sizeof(struct split_header))

static struct split_header *header_at(struct instr_thread *t, uint32_t depth)
{
    return &((struct split_header *)(void *)t->split)[depth];
}

/* Opens a region; NULL when it is not recorded. An attached thread counts it all the same, so that ends find their begins. */
static struct split_header *split_open(instr_fn *fn, void *data, unsigned num_threads, unsigned kind)
{
    struct instr_thread *const on = instr_thread();
    struct instr_thread *const t = instr_self;
    if (t == NULL)
        return NULL;
    const uint32_t depth = t->split_depth++;
    if (depth >= DEPTH)
        return NULL;
    struct split_header *h = header_at(t, depth);
    h->recorded = on != NULL;
    if (!h->recorded)
        return NULL;
    h->team = (struct instr_team){0, fn, data, t->index, instr_region_open(t, fn, num_threads, kind), NULL};
    return h;
}

/* After the real start returned, the caller itself is member 0 of the team and runs the body. */
static void split_enter(struct split_header *h)
{
    struct instr_thread *const t = instr_self;
    instr_implicit_begin(t, &h->team, &h->outer);
    if (h->team.work != NULL && h->work.kind == INSTR_PARALLEL_LOOP)
        instr_loop_begin(t, h->work.schedule, h->work.start, h->work.end, h->work.incr, h->work.chunk);
    else if (h->team.work != NULL)
        instr_event1(t, INSTR_EV_SECTIONS_BEGIN, h->work.count);
}

static void split_work(struct split_header *h, struct instr_work work)
{
    h->work = work;
    h->team.work = &h->work;
}

void instr_probe_parallel_start(void (*real)(instr_fn *, void *, unsigned), instr_fn *fn, void *data, unsigned num_threads)
{
    struct split_header *h = split_open(fn, data, num_threads, INSTR_PARALLEL_REGION);
    if (h == NULL) {
        real(fn, data, num_threads);
        return;
    }
    real(instr_team_body, &h->team, num_threads);
    split_enter(h);
}

void instr_probe_parallel_loop_start(void (*real)(instr_fn *, void *, unsigned, long, long, long, long), unsigned schedule,
                                     instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr, long chunk)
{
    struct split_header *h = split_open(fn, data, num_threads, INSTR_PARALLEL_LOOP);
    if (h == NULL) {
        real(fn, data, num_threads, start, end, incr, chunk);
        return;
    }
    split_work(h, (struct instr_work){INSTR_PARALLEL_LOOP, schedule, 0, start, end, incr, chunk});
    real(instr_team_body, &h->team, num_threads, start, end, incr, chunk);
    split_enter(h);
}

void instr_probe_parallel_loop_runtime_start(void (*real)(instr_fn *, void *, unsigned, long, long, long), unsigned schedule,
                                             instr_fn *fn, void *data, unsigned num_threads, long start, long end, long incr)
{
    struct split_header *h = split_open(fn, data, num_threads, INSTR_PARALLEL_LOOP);
    if (h == NULL) {
        real(fn, data, num_threads, start, end, incr);
        return;
    }
    split_work(h, (struct instr_work){INSTR_PARALLEL_LOOP, schedule, 0, start, end, incr, 0});
    real(instr_team_body, &h->team, num_threads, start, end, incr);
    split_enter(h);
}

void instr_probe_parallel_sections_start(void (*real)(instr_fn *, void *, unsigned, unsigned), instr_fn *fn, void *data,
                                         unsigned num_threads, unsigned count)
{
    struct split_header *h = split_open(fn, data, num_threads, INSTR_PARALLEL_SECTIONS);
    if (h == NULL) {
        real(fn, data, num_threads, count);
        return;
    }
    split_work(h, (struct instr_work){INSTR_PARALLEL_SECTIONS, 0, count, 0, 0, 0, 0});
    real(instr_team_body, &h->team, num_threads, count);
    split_enter(h);
}

void instr_probe_parallel_end(void (*real)(void))
{
    /* The thread that opened a region closes it even if tracing was turned off meanwhile. */
    struct instr_thread *t = instr_self;
    struct split_header *h = NULL;
    if (t != NULL && t->split_depth > 0 && --t->split_depth < DEPTH && header_at(t, t->split_depth)->recorded)
        h = header_at(t, t->split_depth);
    if (h != NULL)
        instr_implicit_end(t, &h->outer);
    real();
    if (h != NULL) {
        instr_point(t, INSTR_AT_REGION);
        instr_event1(t, INSTR_EV_PARALLEL_END, h->team.seq);
    }
}

#include "probes/team.h"

#include "core/packed.h"
#include "probes/local.h"

/* Of libgomp; the object that defines GOMP_parallel defines these too. */
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);

/* The same where `ld --wrap` has the stubs stand in for them: these would take twice as long to see that the runtime asks. */
extern int __real_omp_get_thread_num(void) __attribute__((weak));
extern int __real_omp_get_num_threads(void) __attribute__((weak));

static inline uint32_t thread_num(void)
{
    return (uint32_t)(__real_omp_get_thread_num != NULL ? __real_omp_get_thread_num() : omp_get_thread_num());
}

static inline uint32_t num_threads(void)
{
    return (uint32_t)(__real_omp_get_num_threads != NULL ? __real_omp_get_num_threads() : omp_get_num_threads());
}

uint32_t instr_region_open(struct instr_thread *t, instr_fn *fn, unsigned num_threads, unsigned kind)
{
    const uint32_t seq = t->next_region++;
    instr_parallel_begin(t, seq, (uintptr_t)fn, num_threads, kind);
    instr_point(t, INSTR_AT_REGION);
    return seq;
}

#define LOOP_WORDS 9u

static inline void put_loop(uint32_t *p, uint32_t schedule, int64_t start, int64_t end, int64_t incr, int64_t chunk)
{
    p = instr_put64(instr_put32(p, schedule), (uint64_t)start);
    p = instr_put64(instr_put64(p, (uint64_t)end), (uint64_t)incr);
    instr_put64(p, (uint64_t)chunk);
}

void instr_loop_begin(struct instr_thread *t, uint32_t schedule, int64_t start, int64_t end, int64_t incr, int64_t chunk)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_LOOP_BEGIN, LOOP_WORDS);
    if (p != NULL) {
        put_loop(p, schedule, start, end, incr, chunk);
        instr_close(&s);
    }
}

static void begin_work(struct instr_thread *t, const struct instr_work *work)
{
    if (work->kind == INSTR_PARALLEL_LOOP)
        instr_loop_begin(t, work->schedule, work->start, work->end, work->incr, work->chunk);
    else
        instr_event1(t, INSTR_EV_SECTIONS_BEGIN, work->count);
}

static void enter(struct instr_thread *t, const struct instr_team *team, struct instr_outer *outer)
{
    struct instr_local *local = &instr_local;
    *outer = (struct instr_outer){t->task_thread, t->task_seq, t->region_thread, t->region_seq, local->doacross, local->scope};
    t->task_thread = t->task_seq = INSTR_NONE;
    t->region_thread = team->thread;
    t->region_seq = team->seq;
    local->scope = 0;
}

#if !INSTR_ARCH_SMALL
__attribute__((noinline))
#endif
static void record(struct instr_thread *t, const struct instr_team *team, uint32_t number, uint32_t size)
{
    instr_implicit_record(t, team->thread, team->seq, number, size);
}

void instr_implicit_enter(struct instr_thread *t, const struct instr_team *team, uint32_t number, uint32_t size,
                          struct instr_outer *outer)
{
    record(t, team, number, size);
    enter(t, team, outer);
    instr_point(t, INSTR_AT_IMPLICIT);
}

/*
 * Only the encountering thread asks for the team's size: libgomp keeps it in a line which that thread has just written, so the others would
 * wait some 45 ns for it, half of what recording a whole region costs. 0 of the others.
 */
static inline uint32_t size_for(const struct instr_thread *t, const struct instr_team *team)
{
    return t->index == team->thread ? num_threads() : 0;
}

#if INSTR_ARCH_SMALL
void instr_implicit_begin(struct instr_thread *t, const struct instr_team *team, struct instr_outer *outer)
{
    const uint32_t size = size_for(t, team);
    instr_implicit_enter(t, team, thread_num(), size, outer);
}
#else
/* The implicit task begins, and with it the loop of a combined construct if there is one: both at one look at the clock. */
static inline __attribute__((always_inline)) void begin(struct instr_thread *t, const struct instr_team *team, const struct instr_work *loop,
                                                        struct instr_outer *outer)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_IMPLICIT_BEGIN, 3 + (loop != NULL ? INSTR_HEADER_WORDS + LOOP_WORDS : 0));
    bool with_loop = p != NULL && loop != NULL;
    if (p != NULL) {
        const uint32_t size = size_for(t, team);
        const uint32_t number = thread_num();
        if (INSTR_LIKELY(instr_implicit_words(number, size) == 3)) {
            instr_put_implicit(p, team->thread, team->seq, number, size);
            if (with_loop)
                put_loop(instr_open_second(t, p + 3, INSTR_EV_LOOP_BEGIN), loop->schedule, loop->start, loop->end, loop->incr, loop->chunk);
            instr_close(&s);
        } else { /* once more, in a longer one */
            instr_forget_time(t);
            t->limit = t->slot_end;
            record(t, team, number, size);
            with_loop = false;
        }
    }
    enter(t, team, outer);
    instr_point(t, INSTR_AT_IMPLICIT);
    if (loop != NULL && !with_loop)
        begin_work(t, loop);
}

void instr_implicit_begin(struct instr_thread *t, const struct instr_team *team, struct instr_outer *outer)
{
    begin(t, team, NULL, outer);
}
#endif

static inline __attribute__((always_inline)) void leave(struct instr_thread *t, const struct instr_outer *outer)
{
    instr_point(t, INSTR_AT_IMPLICIT);
    instr_event0(t, INSTR_EV_IMPLICIT_END);
    t->task_thread = outer->task_thread;
    t->task_seq = outer->task_seq;
    t->region_thread = outer->region_thread;
    t->region_seq = outer->region_seq;
    instr_local.doacross = outer->doacross;
    instr_local.scope = outer->scope;
}

void instr_implicit_end(struct instr_thread *t, const struct instr_outer *outer)
{
    leave(t, outer);
}

void instr_team_body(void *arg)
{
    const struct instr_team *team = arg;
    struct instr_thread *t = instr_thread();
    struct instr_outer outer;
    instr_fn *const fn = team->fn;
    void *const data = team->data;
    if (t == NULL) {
        fn(data);
        return;
    }
    const struct instr_work *const work = team->work;
#if !INSTR_ARCH_SMALL
    if (work != NULL && work->kind == INSTR_PARALLEL_LOOP && (instr_process.points & INSTR_AT_IMPLICIT) == 0) {
        begin(t, team, work, &outer);
        fn(data);
        leave(t, &outer);
        return;
    }
#endif
    instr_implicit_begin(t, team, &outer);
    if (work != NULL)
        begin_work(t, work);
    fn(data);
    leave(t, &outer);
}

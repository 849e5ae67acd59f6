/*
 * What the OMPT callbacks remember: identities in the 64 bits that the OpenMP runtime keeps for us with each task and region, and
 * a little state of each thread.
 *
 *     63      56 55          32 31            0
 *     [ flags  ][ thread + 1   ][ number      ]      0: not recorded
 *
 * Thread and number are those of the trace (docs/trace-format.md): nothing is allocated, and nothing is looked up.
 */
#ifndef INSTR_OMPT_STATE_H
#define INSTR_OMPT_STATE_H

#include <stddef.h>

#include "core/record.h"
#include "instr/probes.h"
#include "ompt/ompt.h"

/* Of explicit tasks. Changed only by the thread that has the task: its creator, then who runs it. */
#define INSTR_OMPT_RUNNING (UINT64_C(1) << 56)    /* task_begin was written, its end was not */
#define INSTR_OMPT_SUSPENDED (UINT64_C(1) << 57)  /* … and it has left its thread (untied) */
#define INSTR_OMPT_UNDEFERRED (UINT64_C(1) << 58) /* task_created is written when it has ended or left */
#define INSTR_OMPT_UNTIED (UINT64_C(1) << 59)
#define INSTR_OMPT_PIECE (UINT64_C(1) << 60)    /* of a taskloop, whose identity this is until the task begins */
#define INSTR_OMPT_TASKWAIT (UINT64_C(1) << 61) /* stands for a taskwait with depend clauses */
#define INSTR_OMPT_IMPLICIT (UINT64_C(1) << 62) /* an implicit task: the identity is its region's */

/* Of regions. */
#define INSTR_OMPT_GNU (UINT64_C(1) << 56)   /* GCC's code called the runtime: barriers are told in another way */
#define INSTR_OMPT_INNER (UINT64_C(1) << 57) /* the team that libomp forks inside each initial task of a league */

static inline uint64_t instr_ompt_id(uint32_t thread, uint32_t seq)
{
    return (uint64_t)((thread + 1) & 0xffffffu) << 32 | seq;
}

static inline uint32_t instr_ompt_thread(uint64_t id)
{
    return (uint32_t)(id >> 32 & 0xffffffu) - 1;
}

static inline uint32_t instr_ompt_seq(uint64_t id)
{
    return (uint32_t)id;
}

/* Whether an explicit task with an identity is meant. */
static inline bool instr_ompt_is_task(uint64_t id)
{
    return (id & 0xffffff00000000u) != 0 && !(id & INSTR_OMPT_IMPLICIT);
}

#define INSTR_OMPT_LEVELS 32u
#define INSTR_OMPT_LOOPS 16u

/* One implicit task of a thread: the level of nesting. Level 0 is the initial task. */
struct instr_ompt_level {
    uint32_t task_thread; /* what the thread was doing before */
    uint32_t task_seq;
    uint32_t region_thread;
    uint32_t region_seq;
    uint32_t encountered;  /* number + 1 of the region that began here and has not ended; 0: none */
    const void *site;      /* the region's return address, on the encountering thread */
    uint8_t open;          /* implicit_begin was written, implicit_end was not */
    uint8_t gnu;           /* the region is one of GCC's code */
    uint8_t loop;          /* 1: a loop that tells its chunks is open, 2: … and a chunk is */
    uint8_t barrier;       /* how the open barrier of unknown kind was recorded */
};

/* A taskloop whose tasks this thread creates. */
struct instr_ompt_loop {
    const ompt_data_t *owner; /* the task that the pieces are created in; NULL: not known yet */
    const ompt_data_t *helper; /* libomp's own task that creates pieces, or NULL */
    uint64_t id;
};

enum { INSTR_OMPT_NOTHING, INSTR_OMPT_WANTS_DEPENDS, INSTR_OMPT_WANTS_LOCK };

/* What the last work callback of a thread was, for the barriers that follow. */
enum { INSTR_OMPT_AFTER_OTHER, INSTR_OMPT_AFTER_WORK, INSTR_OMPT_AFTER_SINGLE, INSTR_OMPT_AFTER_TASKGROUP };

/* Of a thread; lies in struct instr_thread, in the room that only libgomp's oldest entry points use. */
struct instr_ompt_state {
    uint32_t level;  /* may exceed what `levels` holds */
    uint32_t loops;  /* likewise */
    uint32_t wants;  /* an event that the next callback decides about */
    uint32_t after;
    uint32_t seq;    /* of the task whose depend clauses follow */
    uint32_t flags;
    uint64_t id;     /* … and its identity */
    const void *site;
    uintptr_t object; /* of the lock */
    uint32_t kind;
    uint32_t unused;
    const void *after_site;
    const void *fork_site; /* return address of the region about to begin */
    struct instr_ompt_loop loop[INSTR_OMPT_LOOPS];
    struct instr_ompt_level levels[INSTR_OMPT_LEVELS + 1]; /* the last one stands for all that are deeper */
};

_Static_assert(sizeof(struct instr_ompt_state) <= INSTR_SPLIT_BYTES, "the room of a thread is too small");

static inline struct instr_ompt_state *instr_ompt_state(struct instr_thread *t)
{
    return (struct instr_ompt_state *)(void *)t->split;
}

static inline struct instr_ompt_level *instr_ompt_level(struct instr_ompt_state *s)
{
    return &s->levels[s->level < INSTR_OMPT_LEVELS ? s->level : INSTR_OMPT_LEVELS];
}

/* Writes the event that was waiting for this callback. */
void instr_ompt_settle(struct instr_thread *t, struct instr_ompt_state *s);

/* Whether events are recorded now: what begins while they are not gets no identity. */
static inline bool instr_ompt_on(void)
{
    return instr_process.active != INSTR_OFF;
}

/*
 * The calling thread at the beginning of a callback, or NULL when it was never recorded. Also a thread whose recording is switched off
 * is followed, so that its state is right when it goes on; its events go nowhere.
 */
static inline struct instr_thread *instr_ompt_enter(void)
{
    struct instr_thread *t = instr_self;
    if (__builtin_expect(t == NULL, 0))
        t = instr_attach();
    if (t != NULL && __builtin_expect(instr_ompt_state(t)->wants != INSTR_OMPT_NOTHING, 0))
        instr_ompt_settle(t, instr_ompt_state(t));
    return t;
}

/* task_create of the task that waits for its depend clauses (task.c). */
void instr_ompt_created(struct instr_thread *t, struct instr_ompt_state *s, const ompt_dependence_t *depends, size_t count);

/* The body of an implicit task has ended (region.c). */
void instr_ompt_body_ended(struct instr_thread *t, struct instr_ompt_level *level);

/* The thread whose data libomp reads at the end of critical sections has ended: mutual exclusion is not recorded any more (tool.c). */
extern bool instr_ompt_without_mutexes;

/* A mutex event (mutex.c). */
void instr_ompt_mutex_event(struct instr_thread *t, unsigned id, unsigned kind, uintptr_t object);

/* Whether the code of a task that begins here is libomp's own (tool.c). */
bool instr_ompt_is_helper(void);

/* Whether an address lies in the OpenMP runtime (tool.c); never, where the program holds it. */
bool instr_ompt_in_runtime(const void *address);

/*
 * Whether a construct at `site` is of the team that libomp makes for itself to run `target nowait` (its hidden helpers): its threads
 * are recorded when they run a task of the program's, not before.
 */
static inline bool instr_ompt_is_helpers(const void *site)
{
    return __builtin_expect(instr_self == NULL, 0) && (site == NULL || instr_ompt_in_runtime(site));
}

/* The callbacks. */
void instr_ompt_parallel_begin(ompt_data_t *task, const void *frame, ompt_data_t *region, unsigned requested, int flags,
                               const void *site);
void instr_ompt_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *site);
void instr_ompt_implicit_task(int endpoint, ompt_data_t *region, ompt_data_t *task, unsigned size, unsigned number, int flags);
void instr_ompt_sync_region(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *site);
void instr_ompt_sync_region_wait(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *site);
void instr_ompt_work(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, uint64_t count, const void *site);
void instr_ompt_dispatch(ompt_data_t *region, ompt_data_t *task, int kind, ompt_data_t instance);
void instr_ompt_masked(int endpoint, ompt_data_t *region, ompt_data_t *task, const void *site);
void instr_ompt_task_create(ompt_data_t *task, const void *frame, ompt_data_t *created, int flags, int has_depends,
                            const void *site);
void instr_ompt_dependences(ompt_data_t *task, const ompt_dependence_t *depends, int count);
void instr_ompt_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next);
void instr_ompt_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t object, const void *site);
void instr_ompt_mutex_acquired(int kind, uint64_t object, const void *site);
void instr_ompt_mutex_released(int kind, uint64_t object, const void *site);
void instr_ompt_nest_lock(int endpoint, uint64_t object, const void *site);
void instr_ompt_cancel(ompt_data_t *task, int flags, const void *site);

#endif

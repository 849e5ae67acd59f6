/*
 * Explicit tasks. The OpenMP runtime is given a block [header | user's data] and our body; the header carries the task's identity from
 * the creating thread to the executing one.
 *
 *   user:     data ─────────────► fn(data)
 *   here:     [header|copy of data] ─► plain_body(block) ─► fn(block + offset)
 *
 * A detachable task, and one whose data takes a copy constructor or more room than there is on the creator's stack, has a larger header
 * (struct full_header) and is copied by us.
 *
 * libgomp never moves a started task to another thread, so the current task is a matter of one thread alone.
 */
#include "core/record.h"
#include "instr/probes.h"
#include "probes/depend.h"

#define FLAG_DEPEND 0x8u
#define FLAG_DETACH 0x2000u

/* What the executing thread needs of any task. */
struct task {
    instr_fn *fn;
    uint32_t thread; /* its identity */
    uint32_t seq;
};

struct plain_header {
    struct task task;
    uint32_t offset; /* of the user's data in the block */
};

/* Of a task that is known to run at once and whose data need no copy: it works on the creator's own, as without us. */
struct header_in_place {
    struct task task;
    void *data;
    bool created; /* the end of its creation is recorded */
};

struct full_header {
    /* Scratch: for a detachable task libgomp stores the event handle into the first word of the block, and the user's body reads it from
     * the first word of its own data. */
    void *handle;
    struct task task;
    uint32_t offset;
    uint32_t flags;
    instr_cpyfn *cpyfn;
    void *source; /* the user's data at creation */
    long size;    /* and its size */
};

/* The end of a task, and of its creation, which nothing follows: both at one look at the clock. False: the creation's end is still to be recorded. */
static inline bool end_with_creation(struct instr_thread *t)
{
    struct instr_slot s;
    uint32_t *const p = instr_open(t, &s, INSTR_EV_TASK_END, INSTR_HEADER_WORDS);
    if (p == NULL)
        return false;
    (void)instr_open_second(t, p, INSTR_EV_TASK_CREATED);
    instr_close(&s);
    return true;
}

/* `created`: where a task that runs inside its creation says whether it recorded the creation's end with its own; NULL: of no other. */
#if !INSTR_ARCH_SMALL
static inline __attribute__((always_inline))
#else
static
#endif
void run_task(const struct task *task, void *data, bool *created)
{
    instr_fn *const fn = task->fn;
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        fn(data);
        return;
    }
    const uint32_t outer_thread = t->task_thread;
    const uint32_t outer_seq = t->task_seq;
    const uint32_t thread = task->thread;
    const uint32_t seq = task->seq;
    instr_event2(t, INSTR_EV_TASK_BEGIN, thread, seq);
    instr_point(t, INSTR_AT_TASK_BEGIN);
    t->task_thread = thread;
    t->task_seq = seq;
    fn(data);
    instr_point(t, INSTR_AT_TASK);
    if (!INSTR_ARCH_SMALL && created != NULL)
        *created = end_with_creation(t);
    else
        instr_event0(t, INSTR_EV_TASK_END);
    t->task_thread = outer_thread;
    t->task_seq = outer_seq;
}

static void plain_body(void *block)
{
    const struct plain_header *h = block;
    run_task(&h->task, (char *)block + h->offset, NULL);
}

static void body_in_place(void *block)
{
    struct header_in_place *const h = block;
    run_task(&h->task, h->data, &h->created);
}

static void full_body(void *block)
{
    const struct full_header *h = block;
    void *const data = (char *)block + h->offset;
    if (h->flags & FLAG_DETACH && h->size >= (long)sizeof(void *))
        memcpy(data, &h->handle, sizeof h->handle);
    run_task(&h->task, data, NULL);
}

static __attribute__((noinline)) void record_handle(const struct full_header *h)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t != NULL && (p = instr_open(t, &s, INSTR_EV_TASK_EVENT, 2 + INSTR_ADDR_WORDS)) != NULL) {
        p = instr_put32(instr_put32(p, h->task.thread), h->task.seq);
        instr_put_addr(p, (uintptr_t)h->handle);
        instr_close(&s);
    }
}

/*
 * Copies the block when the user's data needs a copy constructor, or is too large for a copy on the creator's stack; and always for a
 * detachable task: libgomp has stored the handle by now, and no other thread knows of the task yet, so that nobody can fulfill
 * the event, and no other task can get a handle of the same value, before this one's is told.
 */
static void copy_block(void *to, void *from)
{
    struct full_header *h = to;
    memcpy(h, from, sizeof *h);
    char *const data = (char *)to + h->offset;
    if (h->flags & FLAG_DETACH)
        record_handle(h);
    if (h->cpyfn != NULL)
        h->cpyfn(data, h->source);
    else if (h->size > 0)
        memcpy(data, h->source, (size_t)h->size);
}

/* A frame of its own, gone before the task runs: tasks that run at once nest on one stack. */
static __attribute__((noinline)) void record_creation(struct instr_thread *t, uint32_t seq, instr_fn *fn, uint32_t flags, void **depend)
{
    instr_task_create(t, seq, (uintptr_t)fn, flags, depend);
}

_Static_assert(_Alignof(struct plain_header) == _Alignof(struct full_header), "headers have one alignment");

/* Of a block: as its data asks, and as a header needs. */
static inline size_t alignment(long asked)
{
    return (size_t)asked > _Alignof(struct full_header) ? (size_t)asked : _Alignof(struct full_header);
}

/* Where the user's data is, behind a header of `bytes`. */
static inline size_t offset_behind(size_t bytes, size_t align)
{
    return (bytes + align - 1) & ~(align - 1);
}

void instr_probe_task(void (*real)(instr_fn *, void *, instr_cpyfn *, long, long, bool, unsigned, void **, int, void *),
                      instr_fn *fn, void *data, instr_cpyfn *cpyfn, long arg_size, long arg_align, bool if_clause, unsigned flags,
                      void **depend, int priority, void *detach)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        real(fn, data, cpyfn, arg_size, arg_align, if_clause, flags, depend, priority, detach);
        return;
    }
    const uint32_t seq = t->next_task++;
    const uint32_t recorded = flags | (if_clause ? 0 : INSTR_TASK_FLAG_IF_FALSE);
    if (INSTR_ARCH_SMALL && !(flags & FLAG_DEPEND))
        instr_task_create(t, seq, (uintptr_t)fn, recorded, NULL); /* one call, and nothing on this stack */
    else
        record_creation(t, seq, fn, recorded, flags & FLAG_DEPEND ? depend : NULL);

    const struct task task = {fn, t->index, seq};
    const bool plain = cpyfn == NULL && !(flags & FLAG_DETACH);
    if (plain && !if_clause) {
        struct header_in_place own = {task, data, false};
        real(body_in_place, &own, NULL, sizeof own, _Alignof(struct header_in_place), if_clause, flags, depend, priority, detach);
        if (!INSTR_ARCH_SMALL && own.created)
            return;
    } else if (plain && arg_size <= INSTR_CFG_TASK_STACK_BYTES && arg_align <= 64) {
        /* libgomp may run the task at once and on this very block: so it is aligned as the data must be, and no more. */
        const size_t align = alignment(arg_align);
        const size_t offset = offset_behind(sizeof(struct plain_header), align);
        const uintptr_t room = (uintptr_t)__builtin_alloca(offset + (size_t)arg_size + align);
        char *const block = (char *)((room + align - 1) & ~(uintptr_t)(align - 1));
        struct plain_header *const h = (struct plain_header *)(void *)block;
        h->task = task;
        h->offset = (uint32_t)offset;
        if (arg_size > 0)
            memcpy(block + offset, data, (size_t)arg_size);
        real(plain_body, block, NULL, (long)offset + arg_size, (long)align, if_clause, flags, depend, priority, detach);
    } else {
        const size_t align = alignment(arg_align);
        const size_t offset = offset_behind(sizeof(struct full_header), align);
        struct full_header own = {NULL, task, (uint32_t)offset, flags, cpyfn, data, arg_size};
        real(full_body, &own, copy_block, (long)offset + arg_size, (long)align, if_clause, flags, depend, priority, detach);
    }
    instr_event0(t, INSTR_EV_TASK_CREATED);
}

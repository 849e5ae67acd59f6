/*
 * Explicit tasks. The OpenMP runtime is given a block [header | user's data] and our body; the header carries the task's identity from
 * the creating thread to the executing one.
 *
 *   user:     data ─────────────► fn(data)
 *   here:     [header|copy of data] ─► task_body(block) ─► fn(block + offset)
 *
 * The header's first word is a scratch slot: for a detachable task libgomp stores the event handle into the first word of the block
 * it is given, and the user's body reads it from the first word of its own data.
 *
 * libgomp never moves a started task to another thread, so the current task is a matter of one thread alone.
 */
#include "core/record.h"
#include "instr/probes.h"
#include "probes/depend.h"

#define FLAG_DEPEND 0x8u
#define FLAG_DETACH 0x2000u

struct task_header {
    void *handle; /* scratch: see above; of a task that ran at once: not NULL when the end of its creation is recorded */
    instr_fn *fn;
    instr_cpyfn *cpyfn;
    void *source; /* the user's data at creation */
    uint32_t thread;
    uint32_t seq;
    uint32_t offset; /* of the user's data in the block */
    uint32_t flags;
    long size; /* of the user's data */
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

/* `created`: where a task that runs inside its creation says that it recorded the creation's end with its own; NULL: of no other. */
#if !INSTR_ARCH_SMALL
static inline __attribute__((always_inline))
#else
static
#endif
void run_task(const struct task_header *h, void *data, bool *created)
{
    instr_fn *const fn = h->fn;
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        fn(data);
        return;
    }
    const uint32_t outer_thread = t->task_thread;
    const uint32_t outer_seq = t->task_seq;
    const uint32_t thread = h->thread;
    const uint32_t seq = h->seq;
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

static void task_body(void *block)
{
    const struct task_header *h = block;
    void *const data = (char *)block + h->offset;
    if (h->flags & FLAG_DETACH && h->size >= (long)sizeof(void *))
        memcpy(data, &h->handle, sizeof h->handle);
    run_task(h, data, NULL);
}

/* Body of a task that is known to run at once and whose data need no copy: it works on the creator's own block, as without us. */
static void task_body_in_place(void *block)
{
    struct task_header *const h = block;
    bool created = false;
    run_task(h, h->source, &created);
    if (created)
        h->handle = h;
}

static __attribute__((noinline)) void record_handle(const struct task_header *h)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t != NULL && (p = instr_open(t, &s, INSTR_EV_TASK_EVENT, 2 + INSTR_ADDR_WORDS)) != NULL) {
        p = instr_put32(instr_put32(p, h->thread), h->seq);
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
    struct task_header *h = to;
    memcpy(h, from, sizeof *h);
    char *const data = (char *)to + h->offset;
    if (h->flags & FLAG_DETACH)
        record_handle(h);
    if (h->cpyfn != NULL)
        h->cpyfn(data, h->source);
    else if (h->size > 0)
        memcpy(data, h->source, (size_t)h->size);
}

/* Writes a header where it stays: copied, it would cost a call of memcpy() where code is small. */
static inline void fill(struct task_header *h, instr_fn *fn, instr_cpyfn *cpyfn, void *source, const struct instr_thread *creator, uint32_t seq,
                        uint32_t offset, uint32_t flags, long size)
{
    h->handle = NULL;
    h->fn = fn;
    h->cpyfn = cpyfn;
    h->source = source;
    h->thread = creator->index;
    h->seq = seq;
    h->offset = offset;
    h->flags = flags;
    h->size = size;
}

/* A frame of its own, gone before the task runs: tasks that run at once nest on one stack. */
static __attribute__((noinline)) void record_creation(struct instr_thread *t, uint32_t seq, instr_fn *fn, uint32_t flags, void **depend)
{
    instr_task_create(t, seq, (uintptr_t)fn, flags, depend);
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
    record_creation(t, seq, fn, flags | (if_clause ? 0 : INSTR_TASK_FLAG_IF_FALSE), flags & FLAG_DEPEND ? depend : NULL);

    const size_t align = (size_t)arg_align > _Alignof(struct task_header) ? (size_t)arg_align : _Alignof(struct task_header);
    const size_t offset = (sizeof(struct task_header) + align - 1) & ~(align - 1);
    const bool plain = cpyfn == NULL && !(flags & FLAG_DETACH);
    struct task_header own;
    if (plain && !if_clause) {
        fill(&own, fn, cpyfn, data, t, seq, (uint32_t)offset, flags, arg_size);
        real(task_body_in_place, &own, NULL, sizeof own, _Alignof(struct task_header), if_clause, flags, depend, priority, detach);
        if (!INSTR_ARCH_SMALL && own.handle != NULL)
            return;
    } else if (plain && arg_size <= INSTR_CFG_TASK_STACK_BYTES && align <= 64) {
        /* libgomp may run the task at once and on this very block: so it is aligned as the data must be, and no more. */
        const uintptr_t room = (uintptr_t)__builtin_alloca(offset + (size_t)arg_size + align);
        char *const block = (char *)((room + align - 1) & ~(uintptr_t)(align - 1));
        fill((struct task_header *)(void *)block, fn, cpyfn, data, t, seq, (uint32_t)offset, flags, arg_size);
        if (arg_size > 0)
            memcpy(block + offset, data, (size_t)arg_size);
        real(task_body, block, NULL, (long)offset + arg_size, (long)align, if_clause, flags, depend, priority, detach);
    } else {
        fill(&own, fn, cpyfn, data, t, seq, (uint32_t)offset, flags, arg_size);
        real(task_body, &own, copy_block, (long)offset + arg_size, (long)align, if_clause, flags, depend, priority, detach);
    }
    instr_event0(t, INSTR_EV_TASK_CREATED);
}

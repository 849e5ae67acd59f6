/*
 * Taskloops. libgomp makes one block per task and writes the task's range into its first two words (of the loop's type), and reads a
 * pointer to reductions from the third field when flag 0x1000 is set; so our header begins with the same three fields and the body hands the
 * range on to the user's block. An undeferred taskloop without copy constructor uses one block for all its tasks, so a task's number
 * is given when it begins. With one, libgomp keeps a copy for each task on the stack: so none is given where the user gives none.
 * Data too large for a copy on this stack is copied into a block that is kept for the next such taskloop (probes/large_block.c).
 */
#include "core/record.h"
#include "instr/probes.h"
#include "probes/large_block.h"

#define FLAG_REDUCTION 0x1000u

#define DEFINE_TASKLOOP(name, type)                                                                                            \
    struct name##_header {                                                                                                     \
        type start;                                                                                                            \
        type end;                                                                                                              \
        uintptr_t reductions;                                                                                                  \
        instr_fn *fn;                                                                                                          \
        instr_cpyfn *cpyfn;                                                                                                    \
        void *source;                                                                                                          \
        uint32_t thread;                                                                                                       \
        uint32_t seq;                                                                                                          \
        uint32_t offset;                                                                                                       \
    };                                                                                                                         \
                                                                                                                               \
    static void name##_body(void *block)                                                                                       \
    {                                                                                                                          \
        const struct name##_header *h = block;                                                                                 \
        char *const data = (char *)block + h->offset;                                                                          \
        instr_fn *const fn = h->fn;                                                                                            \
        memcpy(data, &h->start, sizeof h->start);                                                                              \
        memcpy(data + sizeof h->start, &h->end, sizeof h->end);                                                                \
        struct instr_thread *t = instr_thread();                                                                               \
        if (t == NULL) {                                                                                                       \
            fn(data);                                                                                                          \
            return;                                                                                                            \
        }                                                                                                                      \
        const uint32_t outer_thread = t->task_thread;                                                                          \
        const uint32_t outer_seq = t->task_seq;                                                                                \
        const uint32_t seq = t->next_task++;                                                                                   \
        instr_taskloop_task(t, h->thread, h->seq, seq, (int64_t)h->start, (int64_t)h->end);                                    \
        instr_point(t, INSTR_AT_TASK_BEGIN);                                                                                   \
        t->task_thread = t->index;                                                                                             \
        t->task_seq = seq;                                                                                                     \
        fn(data);                                                                                                              \
        instr_point(t, INSTR_AT_TASK);                                                                                         \
        instr_event0(t, INSTR_EV_TASK_END);                                                                                    \
        t->task_thread = outer_thread;                                                                                         \
        t->task_seq = outer_seq;                                                                                               \
    }                                                                                                                          \
                                                                                                                               \
    static void name##_copy(void *to, void *from)                                                                              \
    {                                                                                                                          \
        struct name##_header *h = to;                                                                                          \
        memcpy(h, from, sizeof *h);                                                                                            \
        h->cpyfn((char *)to + h->offset, h->source);                                                                           \
    }                                                                                                                          \
                                                                                                                               \
    void instr_probe_##name(void (*real)(instr_fn *, void *, instr_cpyfn *, long, long, unsigned, unsigned long, int, type, type,  \
                                         type),                                                                                \
                            instr_fn *fn, void *data, instr_cpyfn *cpyfn, long arg_size, long arg_align, unsigned flags,       \
                            unsigned long num_tasks, int priority, type start, type end, type step)                            \
    {                                                                                                                          \
        struct instr_thread *t = instr_thread();                                                                               \
        if (t == NULL) {                                                                                                       \
            real(fn, data, cpyfn, arg_size, arg_align, flags, num_tasks, priority, start, end, step);                          \
            return;                                                                                                            \
        }                                                                                                                      \
        struct name##_header h = {.fn = fn, .cpyfn = cpyfn, .source = data, .thread = t->index};                               \
        const size_t align = (size_t)arg_align > _Alignof(struct name##_header) ? (size_t)arg_align                            \
                                                                                : _Alignof(struct name##_header);              \
        h.offset = (uint32_t)((sizeof h + align - 1) & ~(align - 1));                                                           \
        h.seq = t->next_task++;                                                                                                \
        if (flags & FLAG_REDUCTION)                                                                                            \
            memcpy(&h.reductions, (const char *)data + 2 * sizeof(type), sizeof h.reductions);                                 \
        instr_taskloop_begin(t, h.seq, fn, flags, num_tasks, (int64_t)start, (int64_t)end, (int64_t)step);                     \
        if (cpyfn == NULL && arg_size <= INSTR_CFG_TASK_STACK_BYTES && align <= 64) {                                          \
            char *const block = __builtin_alloca_with_align(h.offset + (size_t)arg_size, 64 * 8);                              \
            memcpy(block, &h, sizeof h);                                                                                       \
            memcpy(block + h.offset, data, (size_t)arg_size);                                                                  \
            real(name##_body, block, NULL, (long)h.offset + arg_size, (long)align, flags, num_tasks, priority, start, end,     \
                 step);                                                                                                        \
        } else if (cpyfn == NULL) {                                                                                            \
            char *const block = instr_large_block(h.offset + (size_t)arg_size);                                                \
            if (block != NULL && align <= 64) {                                                                                \
                memcpy(block, &h, sizeof h);                                                                                   \
                memcpy(block + h.offset, data, (size_t)arg_size);                                                              \
                real(name##_body, block, NULL, (long)h.offset + arg_size, (long)align, flags, num_tasks, priority, start, end, \
                     step);                                                                                                    \
            } else {                                                                                                           \
                real(fn, data, NULL, arg_size, arg_align, flags, num_tasks, priority, start, end, step);                       \
            }                                                                                                                  \
            instr_large_block_free(block);                                                                                     \
        } else {                                                                                                               \
            real(name##_body, &h, name##_copy, (long)h.offset + arg_size, (long)align, flags, num_tasks, priority, start, end, \
                 step);                                                                                                        \
        }                                                                                                                      \
        instr_event0(t, INSTR_EV_TASKLOOP_END);                                                                                \
    }

/* The task, and that it begins. */
static void instr_taskloop_task(struct instr_thread *t, uint32_t thread, uint32_t loop, uint32_t seq, int64_t start, int64_t end)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_TASKLOOP_TASK, 7 + INSTR_HEADER_WORDS + 2);
    if (p == NULL) { /* the first one is counted */
        instr_event2(t, INSTR_EV_TASK_BEGIN, t->index, seq);
        return;
    }
    p = instr_put32(instr_put32(instr_put32(p, thread), loop), seq);
    p = instr_put64(instr_put64(p, (uint64_t)start), (uint64_t)end);
    instr_put32(instr_put32(instr_open_second(t, p, INSTR_EV_TASK_BEGIN), t->index), seq);
    instr_close(&s);
}

static void instr_taskloop_begin(struct instr_thread *t, uint32_t seq, instr_fn *fn, uint32_t flags, uint64_t num_tasks, int64_t start,
                                 int64_t end, int64_t step)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_TASKLOOP_BEGIN, 2 + INSTR_ADDR_WORDS + 8);
    if (p == NULL)
        return;
    p = instr_put_addr(instr_put32(p, seq), (uintptr_t)fn);
    p = instr_put64(instr_put32(p, flags), num_tasks);
    p = instr_put64(instr_put64(p, (uint64_t)start), (uint64_t)end);
    instr_put64(p, (uint64_t)step);
    instr_close(&s);
}

DEFINE_TASKLOOP(taskloop, long)
DEFINE_TASKLOOP(taskloop_ull, instr_ull)

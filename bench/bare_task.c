/* The bare wrapper for tasks; see bare.h. */
#include "bare.h"

#include <stdbool.h>
#include <string.h>

static _Thread_local uint64_t bare_task, bare_created;

struct task {
    body *function;
    uint64_t number;
};

void __real_GOMP_task(body *, void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int, void *);
void __wrap_GOMP_task(body *, void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int, void *);

static void task_body(void *data)
{
    struct task *task = data;
    uint64_t outer = bare_task;
    bare_task = task->number;
    uint64_t *event = bare_event(42, 2);
    event[1] = task->number;
    task->function(task + 1);
    bare_event(43, 1);
    bare_task = outer;
}

/* For tasks without a copy constructor and without detach: enough for tasks.c. */
void __wrap_GOMP_task(body *function, void *data, void (*copy)(void *, void *), long size, long align, bool condition,
                      unsigned flags, void **depend, int priority, void *detach)
{
    union {
        struct task task;
        char bytes[sizeof(struct task) + 256];
    } block;
    block.task.function = function;
    block.task.number = bare_created++;
    memcpy(&block.task + 1, data, (size_t)size);

    uint64_t *event = bare_event(40, 6);
    event[1] = block.task.number;
    event[2] = (uint64_t)(uintptr_t)function;
    event[3] = flags;
    event[4] = flags & 8 ? (uint64_t)(uintptr_t)depend[0] : 0;
    event[5] = flags & 8 ? (uint64_t)(uintptr_t)depend[2] : 0;
    __real_GOMP_task(task_body, &block, copy, (long)sizeof(struct task) + size, align, condition, flags, depend, priority,
                     detach);
    bare_event(41, 1);
}

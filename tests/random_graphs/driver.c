/*
 * Creates at run time exactly the tasks that a script asks for (tests/src/random_graphs/script.rs writes it), by calling the entry
 * points of libgomp as GCC's code does: directives are fixed when a program is compiled, random graphs are not.
 *
 *     driver SCRIPT THREADS
 *
 * Events of type 9000 mark the beginning of a graph, 9001 the construct that comes next on this thread, 9002 and 9003 the beginning
 * and the end of a body; the value is the graph's number, or the number of the task in the script.
 */
#include <inttypes.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instr/instr.h"

enum { TAG_GRAPH = 9000, TAG_CREATE = 9001, TAG_BEGIN = 9002, TAG_END = 9003 };
enum { KIND_IN = 1, KIND_OUT = 2, KIND_MUTEX = 4, KIND_INOUTSET = 5, KIND_ALL = 6 };
enum { FORM_DIRECT, FORM_OBJECT, FORM_OBJECT_INOUT };
enum { DATA_NULL, DATA_PLAIN, DATA_COPIED, DATA_ALIGNED };
/* Bits of the script. */
enum { UNDEFERRED = 1, FINAL = 2, UNTIED = 4, MERGEABLE = 8, PRIORITY = 16, LONG_FORM = 32, DETACH = 64 };
/* Bits of GOMP_task. */
enum { GOMP_UNTIED = 1, GOMP_FINAL = 2, GOMP_MERGEABLE = 4, GOMP_DEPEND = 8, GOMP_PRIORITY = 16, GOMP_DETACH = 0x2000 };
enum { LOCATIONS = 256, NULL_SLOTS = 32 };

/* As libgomp.h of GCC 11 and later has it; `detach` points to an omp_event_handle_t. */
void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool if_clause, unsigned flags,
               void **depend, int priority, void *detach);
void GOMP_taskwait_depend(void **depend);

struct depend {
    unsigned kind, address, form;
};

struct op {
    char what; /* as in the script */
    uint32_t id;
    unsigned flags, priority, data, slot, count;
    struct depend *depends;
    struct op *body; /* of a task or a taskgroup */
    struct op *next;
};

struct graph {
    uint32_t number;
    bool serial;
    unsigned roots;
    struct op **root;
};

/* A task's data as it is copied by libgomp or by copy_block. */
struct block {
    uintptr_t event; /* libgomp puts the handle of a detachable task here */
    const struct op *task;
    const struct block *self; /* set by copy_block */
    uint32_t check;
};

struct wide_block {
    _Alignas(64) struct block block;
    unsigned char filler[200];
};

/* The storage locations that depend clauses name: bytes side by side, since only addresses count. */
static char memory[LOCATIONS];
static const struct op *null_tasks[NULL_SLOTS];
static uint32_t executed, created;
static unsigned long total;

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "driver: %s\n", why);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory_block = calloc(count ? count : 1, size);

    if (!memory_block)
        fail("out of memory");
    return memory_block;
}

static uint32_t number(FILE *script)
{
    uint32_t value;

    if (fscanf(script, "%" SCNu32, &value) != 1)
        fail("a number is missing");
    return value;
}

static char word(FILE *script)
{
    char text[16];

    if (fscanf(script, "%15s", text) != 1 || text[1])
        fail("a letter is missing");
    return text[0];
}

static void read_depends(FILE *script, struct op *op)
{
    op->count = number(script);
    op->depends = allocate(op->count, sizeof *op->depends);
    for (unsigned i = 0; i < op->count; i++) {
        op->depends[i].kind = number(script);
        op->depends[i].address = number(script);
        op->depends[i].form = number(script);
        if (op->depends[i].address >= LOCATIONS)
            fail("no such location");
    }
}

static struct op *read_body(FILE *script)
{
    struct op *first = NULL, **end = &first;

    for (;;) {
        char what = word(script);
        struct op *op;

        if (what == 'e')
            return first;
        op = allocate(1, sizeof *op);
        op->what = what;
        *end = op;
        end = &op->next;
        if (what == 'b') {
            op->count = number(script);
        } else if (what == 'D') {
            op->id = number(script);
            op->flags = number(script);
            read_depends(script, op);
        } else if (what == 't') {
            op->id = number(script);
            op->flags = number(script);
            op->priority = number(script);
            op->data = number(script);
            op->slot = number(script);
            read_depends(script, op);
            if (op->slot >= NULL_SLOTS)
                fail("no such slot");
            op->body = read_body(script);
        } else if (what == 'g') {
            op->body = read_body(script);
        } else if (what != 'w' && what != 'y') {
            fail("unknown operation");
        }
    }
}

/* Room for the longest of the two layouts, and for one depend object for each entry. */
struct list {
    void **words;
    void *(*objects)[2];
};

static uintptr_t object_kind(const struct depend *entry)
{
    return entry->form == FORM_OBJECT_INOUT ? 3 : entry->kind;
}

static unsigned put_direct(void **words, unsigned at, const struct op *op, unsigned kind)
{
    for (unsigned i = 0; i < op->count; i++) {
        const struct depend *entry = &op->depends[i];

        if (entry->form == FORM_DIRECT && entry->kind == kind)
            words[at++] = memory + entry->address;
        if (entry->form == FORM_DIRECT && entry->kind == KIND_ALL && kind == KIND_OUT)
            words[at++] = NULL;
    }
    return at;
}

/* Builds the array for GOMP_task: (count, outs, addresses) when that can say it, else (0, count, outs, mutexes, ins, addresses, objects). */
static void build_list(const struct op *op, bool long_form, struct list list)
{
    unsigned head, at, outs, mutexes, ins, objects = 0;

    for (unsigned i = 0; i < op->count; i++)
        long_form |= op->depends[i].form != FORM_DIRECT || op->depends[i].kind == KIND_MUTEX;
    head = long_form ? 5 : 2;
    at = put_direct(list.words, head, op, KIND_OUT);
    outs = at - head;
    at = put_direct(list.words, at, op, KIND_MUTEX);
    mutexes = at - head - outs;
    at = put_direct(list.words, at, op, KIND_IN);
    ins = at - head - outs - mutexes;
    for (unsigned i = 0; i < op->count; i++) {
        if (op->depends[i].form == FORM_DIRECT)
            continue;
        list.objects[objects][0] = memory + op->depends[i].address;
        list.objects[objects][1] = (void *)object_kind(&op->depends[i]);
        list.words[at++] = list.objects[objects++];
    }
    list.words[0] = long_form ? NULL : (void *)(uintptr_t)op->count;
    list.words[1] = (void *)(uintptr_t)(long_form ? op->count : outs);
    if (long_form) {
        list.words[2] = (void *)(uintptr_t)outs;
        list.words[3] = (void *)(uintptr_t)mutexes;
        list.words[4] = (void *)(uintptr_t)ins;
    }
}

static void run_body(const struct op *op);

static void work(unsigned iterations)
{
    unsigned long sum = 0;

    for (volatile unsigned i = 0; i < iterations; i++)
        sum += i;
    __atomic_fetch_add(&total, sum, __ATOMIC_RELAXED);
}

static void run_task(const struct op *task)
{
    instr_event(TAG_BEGIN, task->id);
    run_body(task->body);
    __atomic_fetch_add(&executed, 1, __ATOMIC_RELAXED);
    instr_event(TAG_END, task->id);
}

static void body_of_block(void *data)
{
    const struct block *block = data;
    const struct op *task = block->task;

    if (block->check != ~task->id)
        fail("a task's data were damaged");
    if (task->data == DATA_COPIED && block->self != block)
        fail("a task's data were moved behind the copy function's back");
    if (task->data == DATA_ALIGNED && (uintptr_t)data % 64 != 0)
        fail("a task's data are not aligned");
    run_task(task);
    if (task->flags & DETACH)
        omp_fulfill_event((omp_event_handle_t)block->event);
}

static void copy_block(void *to, void *from)
{
    struct block *copy = to;
    const struct block *source = from;

    copy->event = source->event;
    copy->task = source->task;
    copy->check = source->check;
    copy->self = copy;
}

/* A body without data knows its task by its own name only. (What a deferred one is given is a pointer to nothing, not NULL.) */
#define NULL_BODY(n)                      \
    static void null_body_##n(void *data) \
    {                                     \
        (void)data;                       \
        run_task(null_tasks[n]);          \
    }
#define FOR_SLOTS(do_)                                                                                                         \
    do_(0) do_(1) do_(2) do_(3) do_(4) do_(5) do_(6) do_(7) do_(8) do_(9) do_(10) do_(11) do_(12) do_(13) do_(14) do_(15)      \
    do_(16) do_(17) do_(18) do_(19) do_(20) do_(21) do_(22) do_(23) do_(24) do_(25) do_(26) do_(27) do_(28) do_(29) do_(30)    \
    do_(31)
FOR_SLOTS(NULL_BODY)
#define NULL_NAME(n) null_body_##n,
static void (*const null_bodies[NULL_SLOTS])(void *) = { FOR_SLOTS(NULL_NAME) };

static unsigned gomp_flags(const struct op *task)
{
    unsigned flags = 0;

    flags |= task->flags & FINAL ? GOMP_FINAL : 0;
    flags |= task->flags & UNTIED ? GOMP_UNTIED : 0;
    flags |= task->flags & MERGEABLE ? GOMP_MERGEABLE : 0;
    flags |= task->flags & PRIORITY ? GOMP_PRIORITY : 0;
    flags |= task->count ? GOMP_DEPEND : 0;
    return flags;
}

static void create(const struct op *task)
{
    void *words[5 + task->count];
    void *objects[task->count + 1][2];
    struct wide_block wide = { .block = { .task = task, .check = ~task->id } };
    void **depend = task->count ? words : NULL;
    bool deferred = !(task->flags & UNDEFERRED);
    unsigned flags = gomp_flags(task);
    uintptr_t event = 0;
    void *detach = NULL;

    if (task->count)
        build_list(task, task->flags & LONG_FORM, (struct list){ words, objects });
    __atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
    instr_event(TAG_CREATE, task->id);
    if (task->data == DATA_NULL) {
        null_tasks[task->slot] = task;
        GOMP_task(null_bodies[task->slot], NULL, NULL, 0, 1, deferred, flags, depend, (int)task->priority, NULL);
        return;
    }
    if (task->flags & DETACH) {
        flags |= GOMP_DETACH;
        detach = &event;
    }
    if (task->data == DATA_ALIGNED)
        GOMP_task(body_of_block, &wide, NULL, sizeof wide, 64, deferred, flags, depend, (int)task->priority, detach);
    else
        GOMP_task(body_of_block, &wide.block, task->data == DATA_COPIED ? copy_block : NULL, sizeof wide.block,
                  _Alignof(struct block), deferred, flags, depend, (int)task->priority, detach);
}

static void wait_for(const struct op *op)
{
    void *words[5 + op->count];
    void *objects[op->count + 1][2];

    build_list(op, false, (struct list){ words, objects });
    instr_event(TAG_CREATE, op->id);
    GOMP_taskwait_depend(words);
}

static void run_body(const struct op *op)
{
    for (; op; op = op->next) {
        switch (op->what) {
        case 'b':
            work(op->count);
            break;
        case 't':
            create(op);
            break;
        case 'D':
            wait_for(op);
            break;
        case 'w': {
#pragma omp taskwait
            break;
        }
        case 'y': {
#pragma omp taskyield
            break;
        }
        case 'g':
#pragma omp taskgroup
            run_body(op->body);
            break;
        }
    }
}

static void run_graph(const struct graph *graph, unsigned threads)
{
    instr_event(TAG_GRAPH, graph->number);
    if (graph->serial) {
        run_body(graph->root[0]);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        unsigned thread = (unsigned)omp_get_thread_num();

        if (thread < graph->roots)
            run_body(graph->root[thread]);
    }
}

static struct graph read_graph(FILE *script)
{
    struct graph graph;

    if (word(script) != 'G')
        fail("a graph is missing");
    graph.number = number(script);
    graph.serial = word(script) == 's';
    graph.roots = number(script);
    graph.root = allocate(graph.roots, sizeof *graph.root);
    for (unsigned i = 0; i < graph.roots; i++)
        graph.root[i] = read_body(script);
    return graph;
}

int main(int argc, char **argv)
{
    FILE *script = argc == 3 ? fopen(argv[1], "r") : NULL;
    unsigned threads = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
    struct graph *graphs;
    uint32_t count;

    if (!script || fscanf(script, "instr-graphs %" SCNu32, &count) != 1)
        fail("usage: driver SCRIPT THREADS");
    graphs = allocate(count, sizeof *graphs);
    for (uint32_t i = 0; i < count; i++)
        graphs[i] = read_graph(script);
    fclose(script);
    for (uint32_t i = 0; i < count; i++)
        run_graph(&graphs[i], threads);
    printf("created %" PRIu32 " executed %" PRIu32 "\n", created, executed);
    return created == executed ? 0 : 1;
}

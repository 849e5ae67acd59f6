/*
 * What a task sees through the probe is what it sees without: its data, copied or constructed, at a multiple of its alignment; the event's
 * handle; and libgomp gets every other argument as it was. The false GOMP_task copies as libgomp's task.c does.
 */
#include <stdlib.h>

#include "instr/probes.h"
#include "recorded.h"

#define DEPEND 0x8u
#define DETACH 0x2000u
#define MOST 5000
#define MOST_ALIGN 4096

static _Alignas(MOST_ALIGN) unsigned char source[MOST + MOST_ALIGN];
static char handle, event;
static struct {
    long size;
    long align;
    bool deferred;
    bool copied;
    unsigned flags;
    void **depend;
    int priority;
} now;
static unsigned bodies, copies;

static unsigned char byte(long i)
{
    return (unsigned char)(i * 7 + i / 256 + 3);
}

static void body(void *data)
{
    const unsigned char *p = data;
    bodies++;
    CHECK((uintptr_t)p % (uintptr_t)now.align == 0);
    long i = 0;
    if (now.flags & DETACH) {
        void *given;
        memcpy(&given, p, sizeof given);
        CHECK(given == &handle);
        i = (long)sizeof given;
    }
    bool same = true;
    for (; i < now.size; i++)
        same = same && p[i] == (unsigned char)(byte(i) + now.copied);
    CHECK(same);
}

/* A constructor that does more than copy. */
static void construct(void *to, void *from)
{
    unsigned char *p = to;
    copies++;
    CHECK(from == source);
    const long first = now.flags & DETACH ? (long)sizeof(void *) : 0;
    memcpy(p, from, (size_t)first);
    for (long i = first; i < now.size; i++)
        p[i] = (unsigned char)(source[i] + 1);
}

static void real_task(instr_fn *fn, void *data, instr_cpyfn *cpyfn, long size, long align, bool if_clause, unsigned flags, void **depend,
                      int priority, void *detach)
{
    CHECK(if_clause == now.deferred && flags == now.flags && depend == now.depend && priority == now.priority);
    CHECK(detach == (flags & DETACH ? &event : NULL));
    CHECK((align >= now.align && size >= now.size) || !(if_clause || now.copied)); /* in place */
    char *const memory = malloc((size_t)(size + align));
    if (memory == NULL)
        return;
    char *const block = (char *)(((uintptr_t)memory + (uintptr_t)align - 1) & ~(uintptr_t)(align - 1));
    if (flags & DETACH)
        *(void **)data = &handle;
    if (cpyfn != NULL)
        cpyfn(block, data);
    else if (if_clause)
        memcpy(block, data, (size_t)size);
    fn(cpyfn != NULL || if_clause ? block : data);
    free(memory);
}

static void one(void)
{
    for (long i = 0; i < MOST; i++)
        source[i] = byte(i);
    const unsigned b = bodies, c = copies;
    instr_probe_task(real_task, body, source, now.copied ? construct : NULL, now.size, now.align, now.deferred, now.flags, now.depend,
                     now.priority, now.flags & DETACH ? &event : NULL);
    CHECK(bodies == b + 1 && copies == c + now.copied);
    /* Without recording, libgomp itself stores the handle into the user's block, as it does plainly. */
    if (instr_self != NULL)
        for (long i = 0; i < MOST; i += 97)
            CHECK(source[i] == byte(i));
}

/* An undeferred task with dependences: waits for them inside libgomp, runs at once, and is told with both. */
static void depend_if0(void)
{
    int x;
    void *depend[] = {(void *)1, (void *)1, &x};
    now.size = 8;
    now.align = 8;
    now.deferred = false;
    now.copied = false;
    now.flags = DEPEND;
    now.depend = depend;
    const uint32_t seq = instr_self != NULL ? instr_self->next_task : 0;
    const uint32_t *p = recorded_from();
    one();
    p = RECORDED_TASK(p, seq, body, DEPEND | INSTR_TASK_FLAG_IF_FALSE, 1, WORDS_DEPEND(&x, INSTR_DEPEND_OUT));
    p = RECORDED(p, INSTR_EV_TASK_BEGIN, instr_self != NULL ? instr_self->index : 0, seq);
    p = RECORDED0(p, INSTR_EV_TASK_END);
    p = RECORDED0(p, INSTR_EV_TASK_CREATED);
    recorded_end(p);
}

/* The handle is told when the task is created, and the fulfilment by it. */
static void real_fulfill(uintptr_t given)
{
    CHECK(given == (uintptr_t)&handle);
    bodies++;
}

static void detach(void)
{
    now.size = 2 * sizeof(void *);
    now.align = sizeof(void *);
    now.deferred = true;
    now.copied = false;
    now.flags = DETACH;
    now.depend = NULL;
    const uint32_t seq = instr_self != NULL ? instr_self->next_task : 0;
    const uint32_t self = instr_self != NULL ? instr_self->index : 0;
    const uint32_t *p = recorded_from();
    one();
    p = RECORDED_TASK(p, seq, body, DETACH, 0);
    p = RECORDED(p, INSTR_EV_TASK_EVENT, self, seq, WORDS_ADDR(&handle));
    p = RECORDED(p, INSTR_EV_TASK_BEGIN, self, seq);
    p = RECORDED0(p, INSTR_EV_TASK_END);
    p = RECORDED0(p, INSTR_EV_TASK_CREATED);
    recorded_end(p);
    const unsigned before = bodies;
    instr_probe_fulfill(real_fulfill, (uintptr_t)&handle);
    CHECK(bodies == before + 1);
    p = RECORDED(p, INSTR_EV_TASK_FULFILL, INSTR_NONE, INSTR_NONE, WORDS_ADDR(&handle));
    recorded_end(p);
}

int main(void)
{
    static const long sizes[] = {0, 1, 8, 24, 200, 511, 512, 513, MOST};
    void *depend[] = {NULL, NULL, NULL, NULL, NULL};
    for (now.align = 1; now.align <= MOST_ALIGN; now.align *= 2)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (unsigned bits = 0; bits < 16; bits++) {
                now.size = sizes[s];
                now.deferred = bits & 1;
                now.copied = bits & 2;
                now.flags = (bits & 4 ? DEPEND : 0) | (bits & 8 && now.size >= 8 && now.align >= 8 ? DETACH : 0);
                now.depend = bits & 4 ? depend : NULL;
                now.priority = (int)bits - 5;
                one();
            }
    depend_if0();
    detach();
    return failures != 0;
}

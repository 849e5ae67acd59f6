/* Reading libgomp's depend array (GCC 9 and later have both layouts; libgomp's gomp_task_handle_depend documents them). */
#ifndef INSTR_DEPEND_H
#define INSTR_DEPEND_H

#include "core/packed.h"

/* A walk over the entries of a depend array. */
struct instr_depends {
    void **entries;
    size_t total;
    size_t outs;
    size_t mutexes;
    size_t ins;
    bool counted; /* the layout tells how many of each kind, and the rest are depend objects */
};

static inline struct instr_depends instr_depends_of(void **depend)
{
    struct instr_depends d;
    d.counted = (uintptr_t)depend[0] == 0;
    if (d.counted) {
        d.total = (size_t)(uintptr_t)depend[1];
        d.outs = (size_t)(uintptr_t)depend[2];
        d.mutexes = (size_t)(uintptr_t)depend[3];
        d.ins = (size_t)(uintptr_t)depend[4];
        d.entries = depend + 5;
    } else {
        d.total = (size_t)(uintptr_t)depend[0];
        d.outs = (size_t)(uintptr_t)depend[1];
        d.mutexes = 0;
        d.ins = d.total;
        d.entries = depend + 2;
    }
    return d;
}

/* Address and recorded kind of entry `i`. */
static inline uintptr_t instr_depend_entry(const struct instr_depends *d, size_t i, uint32_t *kind)
{
    /* omp_depend_t's kinds: 1 in, 2 out, 3 inout, 4 mutexinoutset, 5 inoutset. */
    static const uint8_t OBJECT_KINDS[6] = {INSTR_DEPEND_OUT,           INSTR_DEPEND_IN,       INSTR_DEPEND_OUT, INSTR_DEPEND_OUT,
                                            INSTR_DEPEND_MUTEXINOUTSET, INSTR_DEPEND_INOUTSET};
    void *entry = d->entries[i];
    if (i < d->outs) {
        *kind = entry == NULL ? INSTR_DEPEND_ALL_MEMORY : INSTR_DEPEND_OUT;
    } else if (i < d->outs + d->mutexes) {
        *kind = INSTR_DEPEND_MUTEXINOUTSET;
    } else if (!d->counted || i < d->outs + d->mutexes + d->ins) {
        *kind = INSTR_DEPEND_IN;
    } else {
        void *const *object = entry;
        const uintptr_t object_kind = (uintptr_t)object[1];
        entry = object[0];
        *kind = entry == NULL ? (uint32_t)INSTR_DEPEND_ALL_MEMORY : OBJECT_KINDS[object_kind < 6 ? object_kind : 0];
    }
    return (uintptr_t)entry;
}

/* Writes entries [from, to) behind `p`. */
static inline void instr_put_depends(uint32_t *p, const struct instr_depends *d, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint32_t kind;
        const uintptr_t address = instr_depend_entry(d, i, &kind);
        p = instr_put_depend(p, address, kind);
    }
}

/* Writes task_depend events, until no more entries are left than one event takes; returns how many were written. */
size_t instr_depends_write(struct instr_thread *t, uint32_t seq, const struct instr_depends *d);

static inline size_t instr_depends_spill(struct instr_thread *t, uint32_t seq, const struct instr_depends *d)
{
    return INSTR_LIKELY(d->total <= INSTR_CFG_DEPENDS_PER_EVENT) ? 0 : instr_depends_write(t, seq, d);
}

/* task_create, preceded by task_depend events when the list is long; `far` is a constant. `depend` may be NULL. */
static inline __attribute__((always_inline)) void instr_task_put(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t flags,
                                                                 void **depend, uint32_t far)
{
    struct instr_slot s;
    if (depend == NULL) { /* nothing of it depends on a list */
        if (far == 0)
            instr_event3(t, INSTR_EV_TASK_CREATE, seq, (uint32_t)function, instr_task_numbers(flags, 0, far));
        else if (instr_task_open(t, &s, seq, function, flags, 0, far) != NULL)
            instr_close(&s);
        return;
    }
    const struct instr_depends d = instr_depends_of(depend);
    const size_t from = instr_depends_spill(t, seq, &d);
    const size_t count = d.total - from;
    uint32_t *p = instr_task_open(t, &s, seq, function, flags, count, far);
    if (p == NULL)
        return;
    instr_put_depends(p, &d, from, d.total);
    instr_close(&s);
}

/* Out of line: of a function that is far. */
void instr_task_far(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t flags, void **depend);

static inline void instr_task_create(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t flags, void **depend)
{
    if (instr_is_far(function))
        instr_task_far(t, seq, function, flags, depend);
    else
        instr_task_put(t, seq, function, flags, depend, 0);
}

#endif

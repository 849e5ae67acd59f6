/* taskwait with depend: an empty task with these dependences, which the waiting task runs itself (or, with nowait, does not wait for). */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/depend.h"
#include "probes/work_end.h"

/* Without `nowait` the wait begins at once. */
static struct instr_thread *record(void **depend, uint32_t flags)
{
    struct instr_thread *t = instr_thread();
    const uint32_t wait = flags == 0 ? INSTR_HEADER_WORDS + 1 : 0;
    if (t == NULL)
        return NULL;
    if (depend == NULL) {
        if (wait != 0)
            instr_event1(t, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_TASKWAIT_DEPEND);
        return t;
    }
    const struct instr_depends d = instr_depends_of(depend);
    const uint32_t seq = t->next_task++;
    const size_t from = instr_depends_spill(t, seq, &d);
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_TASKWAIT_DEPEND, 3 + (d.total - from) * INSTR_DEPEND_WORDS + wait);
    if (p == NULL) { /* the first one is counted */
        if (wait != 0)
            instr_event1(t, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_TASKWAIT_DEPEND);
        return t;
    }
    p = instr_put32(instr_put32(instr_put32(p, seq), flags), (uint32_t)(d.total - from));
    instr_put_depends(p, &d, from, d.total);
    if (wait != 0) {
        p += (d.total - from) * INSTR_DEPEND_WORDS;
        instr_put32(instr_open_second(t, p, INSTR_EV_SYNC_BEGIN), INSTR_SYNC_TASKWAIT_DEPEND);
    }
    instr_close(&s);
    return t;
}

void instr_probe_taskwait_depend(void (*real)(void **), void **depend)
{
    struct instr_thread *t = record(depend, 0);
    real(depend);
    instr_wait_end(t, INSTR_SYNC_TASKWAIT_DEPEND);
}

void instr_probe_taskwait_depend_nowait(void (*real)(void **), void **depend)
{
    (void)record(depend, INSTR_TASKWAIT_DEPEND_NOWAIT);
    real(depend);
}

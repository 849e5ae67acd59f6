/* Barriers, taskwait, taskgroup, taskyield. */
#include "instr/probes.h"
#include "probes/depend.h"
#include "probes/work_end.h"

#define WAIT(kind, call)                              \
    struct instr_thread *t = instr_wait_begin(kind);  \
    call;                                             \
    instr_wait_end(t, (kind))

void instr_probe_barrier(void (*real)(void))
{
    WAIT(INSTR_SYNC_BARRIER, real());
}

bool instr_probe_barrier_cancel(bool (*real)(void))
{
    WAIT(INSTR_SYNC_BARRIER, const bool cancelled = real());
    return cancelled;
}

void instr_probe_taskwait(void (*real)(void))
{
    WAIT(INSTR_SYNC_TASKWAIT, real());
}

void instr_probe_taskwait_depend(void (*real)(void **), void **depend)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL && depend != NULL) {
        const struct instr_depends d = instr_depends_of(depend);
        const uint32_t seq = t->next_task++;
        size_t from = 0;
        for (; d.total - from > INSTR_CFG_DEPENDS_PER_EVENT; from += INSTR_CFG_DEPENDS_PER_EVENT) {
            struct instr_slot s;
            uint32_t *p = instr_open(t, &s, INSTR_EV_TASK_DEPEND, 2 + INSTR_CFG_DEPENDS_PER_EVENT * INSTR_DEPEND_WORDS);
            if (p == NULL)
                continue;
            p = instr_put32(instr_put32(p, seq), INSTR_CFG_DEPENDS_PER_EVENT);
            instr_put_depends(p, &d, from, from + INSTR_CFG_DEPENDS_PER_EVENT);
            instr_close(&s);
        }
        struct instr_slot s;
        uint32_t *p = instr_open(t, &s, INSTR_EV_TASKWAIT_DEPEND, 3 + (d.total - from) * INSTR_DEPEND_WORDS);
        if (p != NULL) {
            p = instr_put32(instr_put32(instr_put32(p, seq), 0), (uint32_t)(d.total - from));
            instr_put_depends(p, &d, from, d.total);
            instr_close(&s);
        }
    }
    t = instr_wait_begin(INSTR_SYNC_TASKWAIT_DEPEND);
    real(depend);
    instr_wait_end(t, INSTR_SYNC_TASKWAIT_DEPEND);
}

void instr_probe_taskyield(void (*real)(void))
{
    WAIT(INSTR_SYNC_TASKYIELD, real());
}

void instr_probe_taskgroup_start(void (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event0(t, INSTR_EV_TASKGROUP_BEGIN);
    real();
}

void instr_probe_taskgroup_end(void (*real)(void))
{
    WAIT(INSTR_SYNC_TASKGROUP, real());
}

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
        for (size_t from = 0; from < d.total; from += INSTR_CFG_DEPENDS_PER_EVENT) {
            const size_t count = d.total - from < INSTR_CFG_DEPENDS_PER_EVENT ? d.total - from : INSTR_CFG_DEPENDS_PER_EVENT;
            struct instr_slot s;
            uint32_t *p = instr_open(t, &s, INSTR_EV_TASKWAIT_DEPEND, 1 + count * INSTR_DEPEND_WORDS);
            if (p == NULL)
                continue;
            instr_put_depends(instr_put32(p, (uint32_t)count), &d, from, from + count);
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

/* taskwait with depend: an empty task with these dependences, which the waiting task runs itself (or, with nowait, does not wait for). */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/depend.h"
#include "probes/work_end.h"

static void record(void **depend, uint32_t flags)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL || depend == NULL)
        return;
    const struct instr_depends d = instr_depends_of(depend);
    const uint32_t seq = t->next_task++;
    const size_t from = instr_depends_spill(t, seq, &d);
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_TASKWAIT_DEPEND, 3 + (d.total - from) * INSTR_DEPEND_WORDS);
    if (p == NULL)
        return;
    p = instr_put32(instr_put32(instr_put32(p, seq), flags), (uint32_t)(d.total - from));
    instr_put_depends(p, &d, from, d.total);
    instr_close(&s);
}

void instr_probe_taskwait_depend(void (*real)(void **), void **depend)
{
    record(depend, 0);
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_TASKWAIT_DEPEND);
    real(depend);
    instr_wait_end(t, INSTR_SYNC_TASKWAIT_DEPEND);
}

void instr_probe_taskwait_depend_nowait(void (*real)(void **), void **depend)
{
    record(depend, INSTR_TASKWAIT_DEPEND_NOWAIT);
    real(depend);
}

/*
 * Scopes with task reductions (others make no call), and the end of task reductions of work-sharing constructs.
 *
 * The compiler writes scope_start … GOMP_barrier, unregister, and for a loop loop_start … loop_end, unregister. The last waits
 * for the tasks of the reduction and, unless the construct was cancelled, for the team. It is a scope's end; of a loop it is what follows
 * the end.
 */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/local.h"
#include "probes/work_end.h"

void instr_probe_scope_start(void (*real)(uintptr_t *), uintptr_t *reductions)
{
    real(reductions);
    struct instr_thread *t = instr_thread();
    if (t != NULL) {
        instr_event0(t, INSTR_EV_SCOPE_BEGIN);
        instr_local.scope = 1;
    }
}

void instr_probe_reductions_end(void (*real)(bool), bool cancelled)
{
    unsigned kind = INSTR_SYNC_REDUCTION;
    struct instr_thread *t = instr_thread();
    if (instr_local.scope && t != NULL) {
        instr_event1(t, INSTR_EV_WORK_END, cancelled);
        if (!cancelled)
            kind = INSTR_SYNC_WORK_BARRIER;
    }
    instr_local.scope = 0;
    t = instr_wait_begin(kind);
    real(cancelled);
    instr_wait_end(t, kind);
}

/* Taskgroups. */
#include "instr/probes.h"
#include "probes/work_end.h"

void instr_probe_taskgroup_start(void (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event0(t, INSTR_EV_TASKGROUP_BEGIN);
    real();
}

void instr_probe_taskgroup_end(void (*real)(void))
{
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_TASKGROUP);
    real();
    instr_wait_end(t, INSTR_SYNC_TASKGROUP);
}

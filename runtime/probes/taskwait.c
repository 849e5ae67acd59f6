/* taskwait and taskyield. */
#include "instr/probes.h"
#include "probes/work_end.h"

void instr_probe_taskwait(void (*real)(void))
{
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_TASKWAIT);
    real();
    instr_wait_end(t, INSTR_SYNC_TASKWAIT);
}

void instr_probe_taskyield(void (*real)(void))
{
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_TASKYIELD);
    real();
    instr_wait_end(t, INSTR_SYNC_TASKYIELD);
}

/* Barriers. */
#include "instr/probes.h"
#include "probes/work_end.h"

void instr_probe_barrier(void (*real)(void))
{
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_BARRIER);
    real();
    instr_wait_end(t, INSTR_SYNC_BARRIER);
}

bool instr_probe_barrier_cancel(bool (*real)(void))
{
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_BARRIER);
    const bool cancelled = real();
    instr_wait_end(t, INSTR_SYNC_BARRIER);
    return cancelled;
}

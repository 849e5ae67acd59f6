/* Barriers of GCC 17, which say what they belong to: 0 a parallel region's end, 1 a work-sharing construct's, 2 a barrier construct. */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/work_end.h"

static unsigned sync_kind(int kind)
{
    return kind == 2 ? INSTR_SYNC_BARRIER : INSTR_SYNC_WORK_BARRIER;
}

void instr_probe_barrier_ext(void (*real)(int), int kind)
{
    struct instr_thread *t = instr_wait_begin(sync_kind(kind));
    real(kind);
    instr_wait_end(t, sync_kind(kind));
}

bool instr_probe_barrier_cancel_ext(bool (*real)(int), int kind)
{
    struct instr_thread *t = instr_wait_begin(sync_kind(kind));
    const bool cancelled = real(kind);
    instr_wait_end(t, sync_kind(kind));
    return cancelled;
}

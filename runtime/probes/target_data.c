/*
 * Device data constructs. target update and target enter/exit data with nowait or depend are tasks without a body. libgomp makes a task
 * of one only with both clauses (a task that is waited for); all others are done when the call returns. The end of that one has no
 * call of its own: it is complete at the next synchronization that waits for it.
 */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/target.h"

void instr_probe_target_data_ext(void (*real)(int, size_t, void **, size_t *, unsigned short *), int device, size_t count,
                                 void **hostaddrs, size_t *sizes, unsigned short *kinds)
{
    struct instr_thread *t = instr_thread();
    instr_target_begin(t, INSTR_TARGET_DATA, 0, device, 0);
    real(device, count, hostaddrs, sizes, kinds);
    instr_target_end(t, INSTR_TARGET_DATA);
}

void instr_probe_target_end_data(void (*real)(void))
{
    struct instr_thread *t = instr_thread();
    instr_target_begin(t, INSTR_TARGET_DATA_END, 0, -1, 0);
    real();
    instr_target_end(t, INSTR_TARGET_DATA_END);
}

void instr_probe_target_update_ext(void (*real)(int, size_t, void **, size_t *, unsigned short *, unsigned, void **), unsigned kind,
                                   int device, size_t count, void **hostaddrs, size_t *sizes, unsigned short *kinds, unsigned flags,
                                   void **depend)
{
    struct instr_thread *t = instr_thread();
    const bool nowait = (flags & TARGET_NOWAIT) != 0;
    const bool task = t != NULL && (nowait || depend != NULL);
    const bool done = task && !(nowait && depend != NULL);
    uint32_t outer[2];
    uint32_t seq = 0;
    if (task)
        seq = instr_target_task(t, 0, depend);
    instr_target_begin(t, kind, 0, device,
                       (nowait ? INSTR_TARGET_NOWAIT : 0u) | (flags & TARGET_EXIT_DATA ? INSTR_TARGET_EXIT_DATA : 0u));
    if (done)
        instr_target_task_begin(t, t->index, seq, outer);
    real(device, count, hostaddrs, sizes, kinds, flags, depend);
    if (done)
        instr_target_task_end(t, outer);
    instr_target_end(t, kind);
    if (task)
        instr_event0(t, INSTR_EV_TASK_CREATED);
}

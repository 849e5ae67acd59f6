/* Single. The construct has no end call of its own: what follows (normally a barrier) ends it. */
#include "instr/probes.h"
#include "probes/work_end.h"

bool instr_probe_single_start(bool (*real)(void))
{
    const bool executor = real();
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event1(t, INSTR_EV_SINGLE, executor);
    return executor;
}

/* With copyprivate the threads that do not execute the block wait here for its data. */
void *instr_probe_single_copy_start(void *(*real)(void))
{
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_COPYPRIVATE);
    void *const data = real();
    if (t != NULL)
        instr_event1_pair(t, INSTR_EV_SYNC_END, INSTR_SYNC_COPYPRIVATE, INSTR_EV_SINGLE, data == NULL);
    return data;
}

void instr_probe_single_copy_end(void (*real)(void *), void *data)
{
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_COPYPRIVATE);
    real(data);
    instr_wait_end(t, INSTR_SYNC_COPYPRIVATE);
}

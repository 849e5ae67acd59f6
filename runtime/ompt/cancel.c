/* Cancellation. libomp tells it only when it is active (OMP_CANCELLATION=true) and takes effect. */
#include "ompt/state.h"

void instr_ompt_cancel(ompt_data_t *task, int flags, const void *site)
{
    (void)task;
    (void)site;
    struct instr_thread *t = instr_ompt_enter();
    if (t == NULL)
        return;
    const unsigned told = (unsigned)flags;
    uint32_t kind = 0;
    uint32_t recorded = 0;
    if (told & OMPT_CANCEL_PARALLEL)
        kind |= INSTR_CANCEL_PARALLEL;
    if (told & OMPT_CANCEL_SECTIONS)
        kind |= INSTR_CANCEL_SECTIONS;
    if (told & OMPT_CANCEL_LOOP)
        kind |= INSTR_CANCEL_LOOP;
    if (told & OMPT_CANCEL_TASKGROUP)
        kind |= INSTR_CANCEL_TASKGROUP;
    if (told & OMPT_CANCEL_ACTIVATED)
        recorded |= INSTR_CANCEL_ACTIVATED | INSTR_CANCEL_DETECTED;
    if (told & OMPT_CANCEL_DETECTED)
        recorded |= INSTR_CANCEL_DETECTED;
    if (told & OMPT_CANCEL_DISCARDED_TASK)
        recorded |= INSTR_CANCEL_DISCARDED_TASK;
    instr_event2(t, INSTR_EV_CANCEL, kind, recorded);
}

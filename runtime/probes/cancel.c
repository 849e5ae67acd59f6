/* Cancellation. What it does to the construct is seen by the probes of the construct's end; a dropped task was created and never runs. */
#include "core/cold.h"

#include "core/record.h"
#include "instr/probes.h"

static void record(unsigned kind, uint32_t flags)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event2(t, INSTR_EV_CANCEL, kind, flags);
}

bool instr_probe_cancel(bool (*real)(int, bool), int which, bool do_cancel)
{
    const bool detected = real(which, do_cancel);
    record((unsigned)which, (do_cancel ? INSTR_CANCEL_ACTIVATED : 0u) | (detected ? INSTR_CANCEL_DETECTED : 0u));
    return detected;
}

bool instr_probe_cancellation_point(bool (*real)(int), int which)
{
    const bool detected = real(which);
    record((unsigned)which, detected ? INSTR_CANCEL_DETECTED : 0u);
    return detected;
}

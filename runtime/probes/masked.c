/* Masked blocks and the ends of single blocks, as GCC 17 tells them with -fopenmp-ompt. */
#include "core/cold.h"

#include "core/record.h"
#include "instr/probes.h"

bool instr_probe_masked_begin(bool (*real)(int), int thread)
{
    const bool runs = real(thread);
    struct instr_thread *t = instr_thread();
    if (runs && t != NULL)
        instr_event0(t, INSTR_EV_MASKED_BEGIN);
    return runs;
}

void instr_probe_masked_end(void (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event0(t, INSTR_EV_MASKED_END);
    real();
}

void instr_probe_single_end(void (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event0(t, INSTR_EV_SINGLE_END);
    real();
}

/* Sections: the runtime hands out section numbers as it hands out chunks. */
#include "instr/probes.h"
#include "probes/work_end.h"

static unsigned section(struct instr_thread *t, unsigned number)
{
    if (t != NULL && number != 0)
        instr_event1(t, INSTR_EV_SECTION_BEGIN, number);
    return number;
}

unsigned instr_probe_sections_start(unsigned (*real)(unsigned), unsigned count)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event1(t, INSTR_EV_SECTIONS_BEGIN, count);
    return section(t, real(count));
}

unsigned instr_probe_sections2_start(unsigned (*real)(unsigned, uintptr_t *, void **), unsigned count, uintptr_t *reductions,
                                     void **mem)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event1(t, INSTR_EV_SECTIONS_BEGIN, count);
    return section(t, real(count, reductions, mem));
}

unsigned instr_probe_sections_next(unsigned (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event0(t, INSTR_EV_DISPATCH);
    return section(t, real());
}

void instr_probe_sections_end(void (*real)(void))
{
    instr_work_end_barrier(real);
}

void instr_probe_sections_end_nowait(void (*real)(void))
{
    instr_work_end_nowait(real);
}

bool instr_probe_sections_end_cancel(bool (*real)(void))
{
    return instr_work_end_cancel(real);
}

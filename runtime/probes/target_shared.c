#include "core/cold.h"

#include "instr/probes.h"
#include "probes/target.h"

void instr_target_begin(struct instr_thread *t, uint32_t kind, uintptr_t function, int device, uint32_t flags)
{
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_TARGET_BEGIN, 3 + INSTR_ADDR_WORDS)) == NULL)
        return;
    p = instr_put_addr(instr_put32(p, kind), function);
    instr_put32(instr_put32(p, (uint32_t)device), flags);
    instr_close(&s);
}

uint32_t instr_target_task(struct instr_thread *t, uintptr_t function, void **depend)
{
    const uint32_t seq = t->next_task++;
    instr_task_create(t, seq, function, INSTR_TASK_FLAG_TARGET | (depend != NULL ? TASK_DEPEND : 0), depend);
    return seq;
}

void instr_target_task_begin(struct instr_thread *t, uint32_t thread, uint32_t seq, uint32_t outer[2])
{
    outer[0] = t->task_thread;
    outer[1] = t->task_seq;
    instr_event2(t, INSTR_EV_TASK_BEGIN, thread, seq);
    instr_point(t, INSTR_AT_TASK_BEGIN);
    t->task_thread = thread;
    t->task_seq = seq;
}

void instr_target_task_end(struct instr_thread *t, const uint32_t outer[2])
{
    instr_point(t, INSTR_AT_TASK);
    instr_event0(t, INSTR_EV_TASK_END);
    t->task_thread = outer[0];
    t->task_seq = outer[1];
}

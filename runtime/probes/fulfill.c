/* omp_fulfill_event: the task is known by its handle alone, which its creation told (probes/task.c). */
#include "core/cold.h"

#include "core/record.h"
#include "instr/probes.h"

void instr_probe_fulfill(void (*real)(uintptr_t), uintptr_t handle)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t != NULL && (p = instr_open(t, &s, INSTR_EV_TASK_FULFILL, 2 + INSTR_ADDR_WORDS)) != NULL) {
        p = instr_put32(instr_put32(p, INSTR_NONE), INSTR_NONE);
        instr_put_addr(p, handle);
        instr_close(&s);
    }
    real(handle);
}

#include "core/cold.h"

#include "probes/depend.h"

size_t instr_depends_write(struct instr_thread *t, uint32_t seq, const struct instr_depends *d)
{
    size_t from = 0;
    for (; d->total - from > INSTR_CFG_DEPENDS_PER_EVENT; from += INSTR_CFG_DEPENDS_PER_EVENT) {
        struct instr_slot s;
        uint32_t *p = instr_open(t, &s, INSTR_EV_TASK_DEPEND, 2 + INSTR_CFG_DEPENDS_PER_EVENT * INSTR_DEPEND_WORDS);
        if (p == NULL)
            continue;
        p = instr_put32(instr_put32(p, seq), INSTR_CFG_DEPENDS_PER_EVENT);
        instr_put_depends(p, d, from, from + INSTR_CFG_DEPENDS_PER_EVENT);
        instr_close(&s);
    }
    return from;
}

#if UINTPTR_MAX > 0xffffffffu
void instr_task_far(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t flags, void **depend)
{
    instr_task_put(t, seq, function, flags, depend, 1);
}
#endif

/* static_loop: a static loop begins here, as far as calls tell. */
#ifndef INSTR_STATIC_LOOP_H
#define INSTR_STATIC_LOOP_H

#include "core/record.h"

static inline void instr_static_loop(struct instr_thread *t, uintptr_t site)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_STATIC_LOOP, INSTR_ADDR_WORDS);
    if (p != NULL) {
        instr_put_addr(p, site);
        instr_close(&s);
    }
}

#endif

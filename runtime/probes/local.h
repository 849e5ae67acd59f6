/*
 * What probes remember of a thread from one call to the next, whether or not it is recorded. (What an event needs is in
 * struct instr_thread; this is what keeps the program right when recording is turned on or off in between.)
 */
#ifndef INSTR_LOCAL_H
#define INSTR_LOCAL_H

#include <stdint.h>

#include "arch/arch.h"

struct instr_local {
    uint32_t doacross; /* loops of the doacross nest that runs here; 0: none, or not seen */
    uint32_t widest;   /* the most that any doacross nest of this thread had */
    uint32_t scope;    /* inside a scope construct that ends with GOMP_workshare_task_reduction_unregister */
    const char *cursor; /* of the thread's window when the team's size was asked for */
    uintptr_t site;     /* where to it returned */
};

extern _Thread_local struct instr_local instr_local INSTR_TLS;

#endif

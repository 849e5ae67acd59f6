/*
 * How deep the threads' stacks get (INSTR_STACK=1).
 *
 * What lies below a thread's stack pointer is dead. When its recording begins, some of that is painted: all that was ever used (the C
 * library keeps the stacks of ended threads, the dynamic linker has used the initial thread's), and INSTR_CFG_PAINT_BYTES in any case.
 * When the thread ends, the lowest word that is no longer paint tells how deep its stack was used since. Below the paint fresh memory is
 * zero, so that deeper use shows as well, but for zeros at its end: that is told as "at least". A stack that the program painted itself
 * is left as it is, and its paint is looked for.
 *
 * A thread that ended unseen, or whose stack is gone, has the lowest stack pointer of its events, "at least" too.
 */
#ifndef INSTR_STACK_H
#define INSTR_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

struct instr_thread;

struct instr_stack {
    uintptr_t low; /* bounds; 0 when they are not known or not asked for */
    uintptr_t high;
    uintptr_t seen;    /* lowest stack pointer of an event */
    uintptr_t painted; /* from here on up to where recording began; 0: not known */
    uintptr_t paint;   /* the word */
};

/* Small systems and static programs have it only where the program's configuration asks for it (docs/decisions/0013). */
#define INSTR_STACK_LINKAGE __attribute__((weak))
#define INSTR_HAS_STACK (instr_stack_begin != NULL)

/* Of the calling thread, whose recording begins: finds the bounds and tells them. The guard is not held. */
void instr_stack_begin(struct instr_thread *t) INSTR_STACK_LINKAGE;

/* A thread's last word about its stack. The caller holds its guard. */
void instr_stack_end(struct instr_thread *t) INSTR_STACK_LINKAGE;

#endif

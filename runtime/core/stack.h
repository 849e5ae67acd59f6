/*
 * How deep the threads' stacks get (INSTR_STACK=1).
 *
 * A stack that the system just gave is zero, so the lowest word that is not tells how deep it was used: nothing is painted, nothing is done
 * while the program runs. A stack that was used before (the C library keeps those of ended threads) or was prepared by the program is
 * not zero below the point where recording begins; what the events' own stack pointers tell is then the answer, if it is deeper.
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
    uintptr_t touched; /* lowest address in use when recording began */
};

/* Small systems have it only where the program's configuration asks for it (core/static_config.h). */
#if INSTR_PLATFORM_SMALL
#define INSTR_STACK_LINKAGE __attribute__((weak))
#define INSTR_HAS_STACK (instr_stack_begin != NULL)
#else
#define INSTR_STACK_LINKAGE
#define INSTR_HAS_STACK true
#endif

/* Of the calling thread, whose recording begins: finds the bounds and tells them. The guard is not held. */
void instr_stack_begin(struct instr_thread *t) INSTR_STACK_LINKAGE;

/* A thread's last word about its stack. The caller holds its guard. */
void instr_stack_end(struct instr_thread *t) INSTR_STACK_LINKAGE;

#endif

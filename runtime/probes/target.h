/* What the probes of device constructs share. */
#ifndef INSTR_TARGET_H
#define INSTR_TARGET_H

#include "probes/depend.h"

#define TARGET_NOWAIT 1u    /* bit of the flags that libgomp is given */
#define TARGET_EXIT_DATA 2u /* the same */
#define TASK_DEPEND 8u

void instr_target_begin(struct instr_thread *t, uint32_t kind, uintptr_t function, int device, uint32_t flags);

static inline void instr_target_end(struct instr_thread *t, uint32_t kind)
{
    if (t != NULL)
        instr_event1(t, INSTR_EV_TARGET_END, kind);
}

/* task_create of a target task; returns its number. */
uint32_t instr_target_task(struct instr_thread *t, uintptr_t function, void **depend);

/* A target task that runs here and now begins and ends. */
void instr_target_task_begin(struct instr_thread *t, uint32_t thread, uint32_t seq, uint32_t outer[2]);
void instr_target_task_end(struct instr_thread *t, const uint32_t outer[2]);

#endif

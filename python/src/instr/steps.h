/* Steps of asyncio's tasks: told as a function `task NAME` for each task, which is suspended between its steps. */
#ifndef INSTR_PYTHON_STEPS_H
#define INSTR_PYTHON_STEPS_H

#include "codes.h"

#pragma GCC visibility push(hidden)

/* Its methods of the module. */
extern PyMethodDef instr_steps[];

/* The event loop begins to run what it has in its queue: the code's frame is the running one. */
void instr_step_begins(void);

/* It has run that. */
void instr_step_ends(void);

/* In a forked child: the step that its parent is in was not begun in the child's trace. */
void instr_steps_forget(void);

#pragma GCC visibility pop

#endif

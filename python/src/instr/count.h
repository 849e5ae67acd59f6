/* Calls and times of functions, counted in the process itself: for the list of `python -m instr functions`. */
#ifndef INSTR_PYTHON_COUNT_H
#define INSTR_PYTHON_COUNT_H

#include "codes.h"

/* Under the interpreter's lock. `call`: it begins; else it goes on. */
void instr_count_begin(struct function *function, bool call);
void instr_count_end(struct function *function);

/* What is open on the calling thread is none of this process. */
void instr_count_forget(void);

#endif

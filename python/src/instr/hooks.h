/* What the interpreter calls when a function begins, ends, is suspended or goes on: monitoring.c or profile.c, by its release. */
#ifndef INSTR_PYTHON_HOOKS_H
#define INSTR_PYTHON_HOOKS_H

#include "codes.h"

/* Their methods of the module. */
extern PyMethodDef instr_hooks[];

#endif

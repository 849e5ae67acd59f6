/* What the interpreter calls when a function begins, ends, is suspended or goes on: monitoring.c or profile.c, by its release. */
#ifndef INSTR_PYTHON_HOOKS_H
#define INSTR_PYTHON_HOOKS_H

#include "codes.h"

#pragma GCC visibility push(hidden)

/* Gives the module what _hooks.py hands to the interpreter. False with an exception. */
bool instr_hooks_add(PyObject *module);

#pragma GCC visibility pop

#endif

/* What the interpreter does beneath a program. */
#ifndef INSTR_PYTHON_BENEATH_H
#define INSTR_PYTHON_BENEATH_H

#include "codes.h"

/* Its methods of the module. */
extern PyMethodDef instr_beneath[];

#endif

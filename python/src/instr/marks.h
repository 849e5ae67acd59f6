/* The program's own events. */
#ifndef INSTR_PYTHON_MARKS_H
#define INSTR_PYTHON_MARKS_H

#include "codes.h"

/* Their methods of the module. */
extern PyMethodDef instr_marks[];

/* False with an exception. */
bool instr_marks_begin(void);

#endif

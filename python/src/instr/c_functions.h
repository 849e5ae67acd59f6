/* Functions of C that Python calls. */
#ifndef INSTR_PYTHON_C_FUNCTIONS_H
#define INSTR_PYTHON_C_FUNCTIONS_H

#include "codes.h"

/* The record of one. NULL: it is no function of C. */
struct function *instr_c_function(PyObject *callable);

#endif

/* Where a generator or coroutine is, by its instructions. */
#ifndef INSTR_PYTHON_GENERATORS_H
#define INSTR_PYTHON_GENERATORS_H

#include "codes.h"

/* Its instructions, and how many bytes they have. NULL: they are not to be had. */
const unsigned char *instr_instructions(PyCodeObject *code, struct code *extra, Py_ssize_t *length);

/* Whether a frame that is entered at this offset begins, and does not go on. */
bool instr_begins(PyCodeObject *code, struct code *extra, int offset);

#endif

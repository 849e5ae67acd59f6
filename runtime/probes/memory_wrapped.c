/* Only in programs whose calls of the heap are wrapped: instr-cc asks for it (core/process.h). */
#include "core/process.h"

const char instr_memory_wrapped = 1;

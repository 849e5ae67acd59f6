/* Only in programs with a tool of their own: instr-cc asks for it (ompt/tool.c). */
#include "ompt/ompt.h"

const char instr_ompt_foreign = 1;

/* Only in programs with a tool of their own: instr-cc links it into them, and it is not in the archive (ompt/tool.c). */
#include "ompt/ompt.h"

const char instr_ompt_foreign = 1;

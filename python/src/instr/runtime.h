/* The one runtime of the process, as the extension finds it (docs/decisions/0017-one-runtime-a-process.md). */
#ifndef INSTR_PYTHON_RUNTIME_H
#define INSTR_PYTHON_RUNTIME_H

#include <stdbool.h>

#include "library/interface.h"

/* What start() returns where there is no runtime (instr/instr.h). */
#define INSTR_PYTHON_NOT_RECORDED (-1)

#pragma GCC visibility push(hidden)

/* Its functions; all of them, or none (NULL) before it is found. */
struct instr_python_calls {
    INSTR_MARKS(INSTR_POINTER)
    INSTR_TOLD(INSTR_POINTER)
};

extern struct instr_python_calls instr_calls;

/* Whether the process has one now. Asks every time: somebody else may have brought it. Does not load one. */
bool instr_runtime_is_there(void);

/*
 * Finds the program's, the one that is loaded, or loads the file `path` (NULL: none), and begins the trace. False: there is none, and *why says so.
 */
bool instr_runtime_join(const char *path, const char **why);

/* The interpreter ends: the runtime may close the trace when it was the last one to use it. */
void instr_runtime_leave(void);

#pragma GCC visibility pop

#endif

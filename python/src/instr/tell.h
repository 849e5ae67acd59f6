/* What is told of functions: to the runtime, or to the counts of `python -m instr functions`. Under the interpreter's lock. */
#ifndef INSTR_PYTHON_TELL_H
#define INSTR_PYTHON_TELL_H

#include "codes.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define COLD __attribute__((noinline, cold))

#pragma GCC visibility push(hidden)

enum what { AT_BEGIN, AT_RESUME, AT_END, AT_SUSPEND, AT_UNWIND };

/* The generation in which the thread's name was told; another one in forked children, and none where calls are only counted. */
extern _Thread_local uint32_t instr_told_thread __attribute__((tls_model("initial-exec")));
extern uint32_t instr_process_number;
extern bool instr_c_functions; /* functions of C are recorded too */
extern bool instr_counts;      /* calls are counted, not recorded */

/* A callable that finds the runtime when the first function is selected, and one that gives the calling thread's name, or None. */
void instr_tell_by(PyObject *join, PyObject *thread_name);

/* The thread's first function, or calls are counted. */
void instr_tell_first(struct function *function, enum what what);

static inline __attribute__((always_inline)) void tell(struct function *function, enum what what)
{
    if (!LIKELY(instr_told_thread == instr_process_number && !instr_counts)) {
        instr_tell_first(function, what);
        return;
    }
    switch (what) {
    case AT_BEGIN:
        instr_calls.function_begin(&function->told);
        break;
    case AT_RESUME:
        instr_calls.function_resume(&function->told);
        break;
    case AT_END:
        instr_calls.function_end(&function->told);
        break;
    case AT_SUSPEND:
        instr_calls.function_suspend(&function->told);
        break;
    case AT_UNWIND:
        instr_calls.function_unwind(&function->told);
        break;
    }
}

#pragma GCC visibility pop

#endif

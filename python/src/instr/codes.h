/* What is known of a code object, kept with it (PEP 523's co_extra). */
#ifndef INSTR_PYTHON_CODES_H
#define INSTR_PYTHON_CODES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "runtime.h"

#if PY_VERSION_HEX >= 0x030C0000
#define INSTR_MONITORING 1 /* sys.monitoring */
#else
#define INSTR_MONITORING 0 /* PyEval_SetProfile */
#endif

#pragma GCC visibility push(hidden)

/* A function as the trace has it. Code objects with the same name and place share one; it stays to the end. */
struct function {
    struct instr_function told;
    /* Of the calls that are counted (instr functions): see count.h. */
    uint64_t calls;
    uint64_t own_ns;
    uint64_t total_ns;
    uint32_t number;
};

/* A code object. */
struct code {
    struct function *function; /* NULL: not selected */
    uint32_t generation;       /* of the selection that said so */
    bool suspends;             /* a generator or coroutine */
    bool steps;                /* what runs steps of asyncio's tasks; it is no function that is told */
    int first;                 /* offset at which one begins; -1: not known */
    PyObject *bytes;           /* its instructions; NULL before they are asked for */
};

extern Py_ssize_t instr_code_index;
extern uint32_t instr_generation;

/*
 * What CPython 3.9 to 3.13 keep behind co_extra (Objects/codeobject.c). Their functions check before each look what is known here: that this is a
 * code object, and that the index was registered. What is stored by them is looked for here once (codes.c).
 */
struct instr_code_extra {
    Py_ssize_t size;
    void *extras[];
};

static inline struct code *instr_code_of(PyObject *code)
{
    const struct instr_code_extra *const all = ((PyCodeObject *)code)->co_extra;
    return all != NULL && instr_code_index < all->size ? all->extras[instr_code_index] : NULL;
}

/* Registers the index. False with an exception. */
bool instr_codes_begin(void);

/* Who decides: a callable (code, module) -> text, None, or True of what runs steps of asyncio's tasks. */
void instr_codes_select(PyObject *selector);

/* What is known of a code object by the selection that holds; asks it where need be. Never NULL but where memory is short. */
struct code *instr_code_ask(PyObject *code);

/* The function with this text, which is copied. NULL: no memory, or there are too many. */
struct function *instr_function_of(const char *text);

/* A function of its own, whoever else has this text. NULL: no memory, or there are too many. */
struct function *instr_function_apart(const char *text);

/* All functions, `instr_functions_count()` of them. */
struct function *instr_function_number(uint32_t number);
uint32_t instr_functions_count(void);

#pragma GCC visibility pop

#endif

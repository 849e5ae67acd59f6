/*
 * The functions of instr/instr.h and instr/functions.h that objects without the runtime call through its table: (result, name, parameters).
 * library/calls.h and the Python package (python/) make their pointers from these lists.
 */
#ifndef INSTR_LIBRARY_INTERFACE_H
#define INSTR_LIBRARY_INTERFACE_H

#include <stdint.h>

#include "instr/functions.h"
#include "library/table.h"

/* What programs mark themselves: instr_event and its like. */
#define INSTR_MARKS(F)                              \
    F(void, event, (uint32_t, uint64_t))            \
    F(void, region_begin, (const char *))           \
    F(void, region_end, (void))                     \
    F(void, counter, (const char *, int64_t))       \
    F(int, start, (const char *))                   \
    F(int, stop, (void))                            \
    F(int, flush, (void))

/* What runtimes of languages tell: instr_function_begin and its like. */
#define INSTR_TOLD(F)                                       \
    F(void, function_begin, (struct instr_function *))      \
    F(void, function_end, (struct instr_function *))        \
    F(void, function_unwind, (struct instr_function *))     \
    F(void, function_suspend, (struct instr_function *))    \
    F(void, function_resume, (struct instr_function *))     \
    F(void, thread_is_named, (const char *))                \
    F(void, interpreter_lock, (const void *, uint32_t (*)(void))) \
    F(const char *, trace_place, (void))

/* A member of a structure of pointers, and the statement that looks for it: `calls` is the structure, `table` where it looks. */
#define INSTR_POINTER(result, name, parameters) result(*name) parameters;
#define INSTR_FIND(result, name, parameters) calls.name = (result(*) parameters)table->find("instr_" #name);

#endif

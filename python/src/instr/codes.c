#include "codes.h"

#include <stdlib.h>
#include <string.h>

/* More functions share one name. */
#define MOST_FUNCTIONS 1000000u
#define BLOCK 1024u

Py_ssize_t instr_code_index = -1;
uint32_t instr_generation = 1;

static PyObject *selector;
static PyObject *known; /* text -> number */
static struct function *blocks[MOST_FUNCTIONS / BLOCK + 1];
static uint32_t count;

static void forget(void *extra)
{
    struct code *const code = extra;
    if (code == NULL)
        return;
    Py_XDECREF(code->bytes);
    free(code);
}

bool instr_codes_begin(void)
{
    known = PyDict_New();
    if (known == NULL)
        return false;
#if PY_VERSION_HEX >= 0x030C0000
    instr_code_index = PyUnstable_Eval_RequestCodeExtraIndex(forget);
#else
    instr_code_index = _PyEval_RequestCodeExtraIndex(forget);
#endif
    if (instr_code_index < 0)
        PyErr_SetString(PyExc_RuntimeError, "instr: the interpreter has no place left for what is known of code objects");
    return instr_code_index >= 0;
}

void instr_codes_select(PyObject *chosen)
{
    Py_XINCREF(chosen);
    Py_XSETREF(selector, chosen);
    instr_generation++;
}

struct function *instr_function_number(uint32_t number)
{
    return &blocks[number / BLOCK][number % BLOCK];
}

uint32_t instr_functions_count(void)
{
    return count;
}

static struct function *add(const char *text)
{
    struct function **const block = &blocks[count / BLOCK];
    if (*block == NULL)
        *block = calloc(BLOCK, sizeof **block);
    char *const copy = strdup(text);
    if (*block == NULL || copy == NULL) {
        free(copy);
        return NULL;
    }
    struct function *const function = &(*block)[count % BLOCK];
    function->told.text = copy;
    function->number = count++;
    return function;
}

struct function *instr_function_of(const char *text)
{
    if (count >= MOST_FUNCTIONS)
        return instr_function_number(MOST_FUNCTIONS - 1);
    if (count == MOST_FUNCTIONS - 1)
        text = "(more functions)";
    PyObject *const key = PyBytes_FromString(text);
    PyObject *const found = key != NULL ? PyDict_GetItem(known, key) : NULL;
    struct function *function = NULL;
    if (found != NULL) {
        function = instr_function_number((uint32_t)PyLong_AsUnsignedLong(found));
    } else if (key != NULL && (function = add(text)) != NULL) {
        PyObject *const number = PyLong_FromUnsignedLong(function->number);
        if (number == NULL || PyDict_SetItem(known, key, number) != 0)
            PyErr_Clear();
        Py_XDECREF(number);
    }
    Py_XDECREF(key);
    return function;
}

struct function *instr_function_apart(const char *text)
{
    return count < MOST_FUNCTIONS - 1 ? add(text) : instr_function_of(text);
}

/* The module that the running frame belongs to, or None; borrowed. */
static PyObject *module(void)
{
    PyObject *const globals = PyEval_GetGlobals();
    PyObject *const name = globals != NULL && PyDict_Check(globals) ? PyDict_GetItemString(globals, "__name__") : NULL;
    return name != NULL ? name : Py_None;
}

/* Asks the selection. */
static struct function *choose(PyObject *code, bool *steps)
{
    struct function *function = NULL;
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    if (selector == NULL)
        return NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *const text = PyObject_CallFunctionObjArgs(selector, code, module(), NULL);
    *steps = text == Py_True;
    if (text != NULL && text != Py_None) {
        PyObject *const bytes = PyUnicode_Check(text) ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
        if (bytes != NULL)
            function = instr_function_of(PyBytes_AS_STRING(bytes));
        Py_XDECREF(bytes);
    }
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(selector);
    Py_XDECREF(text);
    PyErr_Restore(type, value, traceback);
    return function;
}

static bool store(PyObject *code, struct code *extra)
{
#if PY_VERSION_HEX >= 0x030C0000
    const bool stored = PyUnstable_Code_SetExtra(code, instr_code_index, extra) == 0;
#else
    const bool stored = _PyCode_SetExtra(code, instr_code_index, extra) == 0;
#endif
    if (!stored)
        PyErr_Clear();
    return stored;
}

/* False: there is no memory, or instr_code_of() does not find what was stored, and nothing is recorded. */
static bool keep(PyObject *code, struct code *extra)
{
    if (!store(code, extra)) {
        forget(extra);
        return false;
    }
    if (instr_code_of(code) == extra)
        return true;
    (void)store(code, NULL); /* this frees it */
    return false;
}

struct code *instr_code_ask(PyObject *code)
{
    struct code *extra = instr_code_of(code);
    if (extra == NULL) {
        extra = calloc(1, sizeof *extra);
        if (extra == NULL)
            return NULL;
        extra->suspends = (((PyCodeObject *)code)->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
        extra->first = -1;
        if (!keep(code, extra))
            return NULL;
    }
    if (extra->generation != instr_generation) {
        extra->generation = instr_generation; /* before: what it calls may come here again */
        extra->function = NULL;
        extra->function = choose(code, &extra->steps);
    }
    return extra;
}

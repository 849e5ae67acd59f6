#include "tell.h"

#include "count.h"

_Thread_local uint32_t instr_told_thread __attribute__((tls_model("initial-exec")));
uint32_t instr_process_number = 1;
bool instr_c_functions;
bool instr_counts;

static PyObject *thread_name;
static PyObject *join;

void instr_tell_by(PyObject *how, PyObject *name)
{
    Py_INCREF(how);
    Py_XSETREF(join, how);
    Py_INCREF(name);
    Py_XSETREF(thread_name, name);
}

static COLD void tell_thread(void)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    instr_told_thread = instr_process_number;
    if (thread_name == NULL || instr_calls.thread_is_named == NULL)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *const name = PyObject_CallNoArgs(thread_name);
    const char *const text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (text != NULL)
        instr_calls.thread_is_named(text);
    PyErr_Clear();
    Py_XDECREF(name);
    PyErr_Restore(type, value, traceback);
}

/* Whether events can be written: the runtime is there. It is looked for once. */
static COLD bool find_runtime(void)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyObject *const how = join;
    if (how == NULL)
        return instr_calls.function_begin != NULL;
    join = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *const result = PyObject_CallNoArgs(how);
    if (result == NULL)
        PyErr_WriteUnraisable(how);
    Py_XDECREF(result);
    Py_DECREF(how);
    PyErr_Restore(type, value, traceback);
    return instr_calls.function_begin != NULL;
}

static COLD void count(struct function *function, enum what what)
{
    if (what == AT_BEGIN || what == AT_RESUME)
        instr_count_begin(function, what == AT_BEGIN);
    else
        instr_count_end(function);
}

COLD void instr_tell_first(struct function *function, enum what what)
{
    if (instr_counts) {
        count(function, what);
        return;
    }
    if (instr_calls.function_begin == NULL && !find_runtime())
        return;
    tell_thread();
    tell(function, what);
}

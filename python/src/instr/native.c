/* The module: Python functions as events of the one runtime of the process. Its hooks are in monitoring.c or profile.c, its calls in marks.c. */
#include "beneath.h"
#include "count.h"
#include "gil.h"
#include "hooks.h"
#include "marks.h"
#include "steps.h"
#include "tell.h"

/* select(selector or None): who decides from now on. */
static PyObject *choose(PyObject *self, PyObject *selector)
{
    (void)self;
    instr_codes_select(selector == Py_None ? NULL : selector);
    Py_RETURN_NONE;
}

/* set(join, thread_name, c_functions, counts) */
static PyObject *set(PyObject *self, PyObject *args)
{
    PyObject *how;
    PyObject *name;
    int c;
    int only_count;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOpp", &how, &name, &c, &only_count))
        return NULL;
    instr_tell_by(how, name);
    instr_c_functions = c != 0;
    instr_counts = only_count != 0;
    Py_RETURN_NONE;
}

/* load(path or None): None, or why there is no runtime. */
static PyObject *load(PyObject *self, PyObject *args)
{
    const char *path;
    const char *why = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "z", &path))
        return NULL;
    if (instr_runtime_join(path, &why)) {
        instr_gil_tell();
        Py_RETURN_NONE;
    }
    return PyUnicode_FromString(why);
}

/* place(): the folder of the trace, or "". */
static PyObject *place(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_DecodeFSDefault(instr_calls.trace_place != NULL ? instr_calls.trace_place() : "");
}

static PyObject *is_there(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(instr_runtime_is_there());
}

/* is_main(): whether the main interpreter asks; an older Python gives others what that one has loaded. */
static PyObject *is_main(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(PyInterpreterState_Get() == PyInterpreterState_Main());
}

/* forked(): this is a child that just began. */
static PyObject *forked(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    instr_process_number++;
    instr_count_forget();
    instr_steps_forget();
    Py_RETURN_NONE;
}

/* counted(): [(text, calls, own ns, total ns)] of all functions that were called. */
static PyObject *counted(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyObject *const list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < instr_functions_count(); i++) {
        const struct function *const f = instr_function_number(i);
        if (f->calls == 0)
            continue;
        PyObject *const row = Py_BuildValue("(sKKK)", f->told.text, (unsigned long long)f->calls, (unsigned long long)f->own_ns,
                                            (unsigned long long)f->total_ns);
        if (row == NULL || PyList_Append(list, row) != 0) {
            Py_XDECREF(row);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(row);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"select", choose, METH_O, NULL},
    {"set", set, METH_VARARGS, NULL},
    {"load", load, METH_VARARGS, NULL},
    {"place", place, METH_NOARGS, NULL},
    {"is_there", is_there, METH_NOARGS, NULL},
    {"is_main", is_main, METH_NOARGS, NULL},
    {"forked", forked, METH_NOARGS, NULL},
    {"counted", counted, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "instr._native", NULL, -1, methods, NULL, NULL, NULL, NULL};

/* The interpreter is gone; the runtime may be, too. */
__attribute__((destructor(101))) static void ends(void)
{
    instr_runtime_leave();
}

PyMODINIT_FUNC PyInit__native(void)
{
    if (!instr_marks_begin() || !instr_codes_begin())
        return NULL;
    PyObject *const module = PyModule_Create(&definition);
    if (module != NULL && !instr_hooks_add(module)) {
        Py_DECREF(module);
        return NULL;
    }
    PyMethodDef *const parts[] = {instr_marks, instr_beneath, instr_steps};
    for (size_t i = 0; module != NULL && i < sizeof parts / sizeof parts[0]; i++) {
        if (PyModule_AddFunctions(module, parts[i]) != 0) {
            Py_DECREF(module);
            return NULL;
        }
    }
    return module;
}

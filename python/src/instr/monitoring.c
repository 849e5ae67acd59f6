/* From 3.12 on: callbacks of sys.monitoring. A code object that is not selected costs one call, and nothing from then on. */
#include "hooks.h"

#if INSTR_MONITORING

#include "c_functions.h"
#include "generators.h"
#include "steps.h"
#include "tell.h"

static PyObject *disable;   /* sys.monitoring.DISABLE */
static PyObject *set_local; /* sys.monitoring.set_local_events, with the tool's number and the events */
static PyObject *tool;
static PyObject *events;

static PyObject *nothing(void)
{
    return Py_None; /* which is never freed, from 3.12 on */
}

static PyObject *no_more(void)
{
    Py_INCREF(disable);
    return disable;
}

/* A code object that was not met before, or not by this selection. NULL: it is not selected. */
static COLD struct code *meet(PyObject *code)
{
    if (set_local == NULL)
        return NULL; /* nothing is recorded any more */
    struct code *const extra = instr_code_ask(code);
    if (extra == NULL || (extra->function == NULL && !extra->steps))
        return NULL;
    PyObject *const result = PyObject_CallFunctionObjArgs(set_local, tool, code, events, NULL);
    if (result == NULL)
        PyErr_WriteUnraisable(code);
    Py_XDECREF(result);
    return extra;
}

/* A function begins or goes on. `local`: the event can be switched off where it happens. */
static inline __attribute__((always_inline)) PyObject *enters(PyObject *code, enum what what, bool local)
{
    struct code *extra = instr_code_of(code);
    if (!LIKELY(extra != NULL && extra->generation == instr_generation && set_local != NULL))
        extra = meet(code);
    if (LIKELY(extra != NULL && extra->function != NULL)) {
        tell(extra->function, what);
        return nothing();
    }
    if (extra != NULL && extra->steps) {
        instr_step_begins();
        return nothing();
    }
    return local ? no_more() : nothing();
}

/*
 * A function leaves. One whose begin was told by an earlier selection is told to its end. An event may only be switched off where all are
 * switched on again before it is wanted.
 */
static inline __attribute__((always_inline)) PyObject *leaves(PyObject *code, enum what what, bool local)
{
    const struct code *const extra = instr_code_of(code);
    if (LIKELY(extra != NULL && extra->function != NULL)) {
        tell(extra->function, what);
        return LIKELY(set_local != NULL) || !local ? nothing() : no_more();
    }
    if (extra != NULL && extra->steps) {
        instr_step_ends(); /* one that began is told to its end, as functions are */
        return set_local != NULL || !local ? nothing() : no_more();
    }
    const bool refused = extra != NULL && extra->generation == instr_generation;
    return local && (refused || set_local == NULL) ? no_more() : nothing();
}

#define HOOK(name) static PyObject *name(PyObject *self, PyObject *const *args, size_t number, PyObject *keywords)

#define CALLBACK(name, way, what, local)    \
    HOOK(name)                              \
    {                                       \
        (void)self;                         \
        (void)number;                       \
        (void)keywords;                     \
        return way(args[0], what, local);   \
    }

CALLBACK(on_start, enters, AT_BEGIN, true)
CALLBACK(on_resume, enters, AT_RESUME, true)
CALLBACK(on_return, leaves, AT_END, true)
CALLBACK(on_yield, leaves, AT_SUSPEND, true)
CALLBACK(on_unwind, leaves, AT_UNWIND, false)

/* An exception is thrown into a generator, which goes on by that, or begins. */
HOOK(on_throw)
{
    struct code *extra = instr_code_of(args[0]);
    (void)self;
    (void)keywords;
    if (extra == NULL || extra->generation != instr_generation)
        extra = meet(args[0]);
    const bool suspends = extra != NULL && extra->function != NULL && extra->suspends;
    const bool is_new = suspends && PyVectorcall_NARGS(number) >= 2 && instr_begins((PyCodeObject *)args[0], extra, (int)PyLong_AsLong(args[1]));
    return enters(args[0], is_new ? AT_BEGIN : AT_RESUME, false);
}

static PyObject *on_c(PyObject *const *args, size_t number, enum what what)
{
    struct code *const extra = PyVectorcall_NARGS(number) >= 3 ? instr_code_of(args[0]) : NULL;
    if (extra != NULL && extra->generation == instr_generation && extra->function != NULL && instr_c_functions) {
        struct function *const function = instr_c_function(args[2]);
        if (function != NULL)
            tell(function, what);
        return nothing();
    }
    return what == AT_BEGIN ? no_more() : nothing();
}

#define C_CALLBACK(name, what)            \
    HOOK(name)                            \
    {                                     \
        (void)self;                       \
        (void)keywords;                   \
        return on_c(args, number, what);  \
    }

C_CALLBACK(on_call, AT_BEGIN)
C_CALLBACK(on_c_return, AT_END)
C_CALLBACK(on_c_raise, AT_UNWIND)

/* monitor(DISABLE, set_local_events, tool, events), or monitor() when nothing is recorded any more. */
static PyObject *monitor(PyObject *self, PyObject *args)
{
    PyObject *given[4] = {NULL, NULL, NULL, NULL};
    (void)self;
    if (!PyArg_UnpackTuple(args, "monitor", 0, 4, &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    for (int i = 0; i < 4; i++)
        Py_XINCREF(given[i]);
    if (given[0] != NULL)
        Py_XSETREF(disable, given[0]);
    Py_XSETREF(set_local, given[1]);
    Py_XSETREF(tool, given[2]);
    Py_XSETREF(events, given[3]);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"monitor", monitor, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/*
 * What the interpreter calls: objects with nothing between it and the function. The way to a method of the module takes two calls more, and looks
 * how deep the stack is.
 */
struct hook {
    PyObject_HEAD
    vectorcallfunc call;
};

static PyTypeObject hook_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "instr._native.Hook",
    .tp_basicsize = sizeof(struct hook),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_vectorcall_offset = offsetof(struct hook, call),
    .tp_call = PyVectorcall_Call,
    .tp_doc = "A callback of sys.monitoring, which nobody else calls.",
};

static struct {
    const char *name;
    struct hook hook;
} hooks[] = {
#define ENTRY(name) {#name, {PyObject_HEAD_INIT(&hook_type) name}}
    ENTRY(on_start), ENTRY(on_resume), ENTRY(on_return), ENTRY(on_yield),   ENTRY(on_throw),
    ENTRY(on_unwind), ENTRY(on_call),  ENTRY(on_c_return), ENTRY(on_c_raise),
#undef ENTRY
};

bool instr_hooks_add(PyObject *module)
{
    if (PyType_Ready(&hook_type) != 0)
        return false;
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        if (PyModule_AddObjectRef(module, hooks[i].name, (PyObject *)&hooks[i].hook) != 0)
            return false;
    return PyModule_AddFunctions(module, methods) == 0;
}

#endif

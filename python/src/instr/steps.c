#include "steps.h"

#include <stdlib.h>

#include <frameobject.h>

#include "tell.h"

/* Each of so many tasks has a text, and so an identity, of its own; later ones share that of their name. */
#define MOST_OWN 10000u

struct task {
    PyObject *weak; /* to the task: a number of one that is gone may be another one's */
    struct function *function;
    struct function *awaits; /* what it is suspended in; NULL: it does not run, or awaits nothing */
    bool begun;
};

static const char *const capsule = "instr.task";

static PyObject *types;  /* of tasks */
static PyObject *namer;  /* task -> text, or None */
static PyObject *reason; /* task that is suspended -> text, or None */
static PyObject *tasks;  /* number -> capsule of struct task */
enum { CALLBACK, SELF, DONE, EXCEPTION, CANCELLED, NAMES };
static PyObject *names[NAMES];
static uint32_t own;

/* What the calling thread's event loop runs. A loop may run in a callback of another one (nested loops): the inner one's steps are not told. */
static _Thread_local struct {
    PyObject *task;
    struct task *known;
    uint32_t depth;
} running;

static void release(PyObject *given)
{
    struct task *const known = PyCapsule_GetPointer(given, capsule);
    if (known == NULL)
        return;
    Py_XDECREF(known->weak);
    free(known);
}

static PyObject *attribute(PyObject *of, int name)
{
    PyObject *const found = PyObject_GetAttr(of, names[name]);
    if (found == NULL)
        PyErr_Clear();
    return found;
}

/* The `self` of the running frame. */
static PyObject *self_of_frame(void)
{
    PyFrameObject *const frame = PyEval_GetFrame();
    PyObject *found = NULL;
    if (frame == NULL)
        return NULL;
#if PY_VERSION_HEX >= 0x030C0000
    found = PyFrame_GetVarString(frame, "self");
#else
    PyObject *const locals = PyObject_GetAttrString((PyObject *)frame, "f_locals");
    found = locals != NULL ? PyMapping_GetItemString(locals, "self") : NULL;
    Py_XDECREF(locals);
#endif
    if (found == NULL)
        PyErr_Clear();
    return found;
}

/* The task whose step this callback is, as asyncio's own look at its handles finds it; a new reference, or NULL. */
static PyObject *task_of(PyObject *handle)
{
    PyObject *const callback = attribute(handle, CALLBACK);
    PyObject *task = callback != NULL ? attribute(callback, SELF) : NULL;
    Py_XDECREF(callback);
    if (task != NULL && PyObject_IsInstance(task, types) != 1) {
        PyErr_Clear();
        Py_CLEAR(task);
    }
    return task;
}

static struct task *find(PyObject *key, PyObject *task)
{
    PyObject *const found = PyDict_GetItem(tasks, key);
    struct task *const known = found != NULL ? PyCapsule_GetPointer(found, capsule) : NULL;
    return known != NULL && PyWeakref_GetObject(known->weak) == task ? known : NULL;
}

static struct function *named(PyObject *text, bool own_one)
{
    PyObject *const bytes = text != NULL && PyUnicode_Check(text) ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
    struct function *function = NULL;
    if (bytes != NULL)
        function = own_one ? instr_function_apart(PyBytes_AS_STRING(bytes)) : instr_function_of(PyBytes_AS_STRING(bytes));
    Py_XDECREF(bytes);
    return function;
}

/* A task that was not met before. */
static COLD struct task *meet(PyObject *key, PyObject *task)
{
    PyObject *const text = PyObject_CallFunctionObjArgs(namer, task, NULL);
    PyObject *const weak = text != NULL ? PyWeakref_NewRef(task, NULL) : NULL;
    struct task *const known = weak != NULL ? calloc(1, sizeof *known) : NULL;
    PyObject *holder = NULL;
    if (known != NULL) {
        known->function = named(text, own < MOST_OWN);
        known->weak = weak;
        Py_INCREF(weak);
        holder = known->function != NULL ? PyCapsule_New(known, capsule, release) : NULL;
        if (holder == NULL) {
            Py_DECREF(weak);
            free(known);
        }
    }
    const bool kept = holder != NULL && PyDict_SetItem(tasks, key, holder) == 0;
    if (kept)
        own += own < MOST_OWN;
    PyErr_Clear();
    Py_XDECREF(holder);
    Py_XDECREF(weak);
    Py_XDECREF(text);
    return kept ? known : NULL;
}

static void begins(PyObject *task)
{
    PyObject *const key = PyLong_FromVoidPtr(task);
    struct task *known = key != NULL ? find(key, task) : NULL;
    if (known == NULL && key != NULL)
        known = meet(key, task);
    Py_XDECREF(key);
    if (known == NULL)
        return;
    tell(known->function, known->begun ? AT_RESUME : AT_BEGIN);
    known->begun = true;
    if (known->awaits != NULL) {
        tell(known->awaits, AT_RESUME);
        tell(known->awaits, AT_END);
        known->awaits = NULL;
    }
    Py_INCREF(task);
    running.task = task;
    running.known = known;
}

COLD void instr_step_begins(void)
{
    if (running.depth++ > 0 || instr_counts || types == NULL)
        return;
    PyObject *const handle = self_of_frame();
    PyObject *const task = handle != NULL ? task_of(handle) : NULL;
    Py_XDECREF(handle);
    if (task != NULL)
        begins(task);
    Py_XDECREF(task);
}

/* What the task awaits, as Python says it. */
static struct function *awaited_by(PyObject *task)
{
    PyObject *const text = PyObject_CallFunctionObjArgs(reason, task, NULL);
    struct function *const function = named(text, false);
    PyErr_Clear();
    Py_XDECREF(text);
    return function;
}

static bool is_true(PyObject *task, int method)
{
    PyObject *const result = PyObject_CallMethodNoArgs(task, names[method]);
    const bool is = result == Py_True;
    PyErr_Clear();
    Py_XDECREF(result);
    return is;
}

static void ends(PyObject *task, struct task *known)
{
    if (!is_true(task, DONE)) {
        known->awaits = awaited_by(task);
        if (known->awaits != NULL) {
            tell(known->awaits, AT_BEGIN);
            tell(known->awaits, AT_SUSPEND);
        }
        tell(known->function, AT_SUSPEND);
        return;
    }
    /* Not exception(), which notes that somebody has asked for it. */
    PyObject *const exception = attribute(task, EXCEPTION);
    const bool returned = (exception == NULL || exception == Py_None) && !is_true(task, CANCELLED);
    Py_XDECREF(exception);
    tell(known->function, returned ? AT_END : AT_UNWIND);
    PyObject *const key = PyLong_FromVoidPtr(task);
    if (key == NULL || PyDict_DelItem(tasks, key) != 0)
        PyErr_Clear();
    Py_XDECREF(key);
}

COLD void instr_step_ends(void)
{
    if (running.depth == 0 || --running.depth > 0 || running.task == NULL)
        return;
    PyObject *const task = running.task;
    struct task *const known = running.known;
    running.task = NULL;
    running.known = NULL;
    ends(task, known);
    Py_DECREF(task);
}

void instr_steps_forget(void)
{
    running.depth = 0;
    Py_CLEAR(running.task);
    running.known = NULL;
    if (tasks != NULL)
        PyDict_Clear(tasks);
}

/* steps_by(types of tasks, namer, reason): asyncio is there. */
static PyObject *steps_by(PyObject *self, PyObject *args)
{
    static const char *const texts[] = {"_callback", "__self__", "done", "_exception", "cancelled"};
    PyObject *given[3];
    (void)self;
    if (!PyArg_UnpackTuple(args, "steps_by", 3, 3, &given[0], &given[1], &given[2]))
        return NULL;
    for (int i = 0; i < NAMES; i++)
        if (names[i] == NULL && (names[i] = PyUnicode_InternFromString(texts[i])) == NULL)
            return NULL;
    if (tasks == NULL && (tasks = PyDict_New()) == NULL)
        return NULL;
    for (int i = 0; i < 3; i++)
        Py_INCREF(given[i]);
    Py_XSETREF(types, given[0]);
    Py_XSETREF(namer, given[1]);
    Py_XSETREF(reason, given[2]);
    Py_RETURN_NONE;
}

PyMethodDef instr_steps[] = {
    {"steps_by", steps_by, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* The program's own events, regions and counters, and from when to when is recorded. */
#include "marks.h"

/* Names that stay, by their text; the runtime knows names by their addresses. */
#define MOST_NAMES 4096
static PyObject *names;

static const char *kept(PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "a name is a str");
        return NULL;
    }
    PyObject *found = PyDict_GetItemWithError(names, name);
    if (found == NULL && !PyErr_Occurred()) {
        PyObject *bytes = PyDict_GET_SIZE(names) < MOST_NAMES ? PyUnicode_AsEncodedString(name, "utf-8", "replace")
                                                              : PyBytes_FromString("(more than 4096 names)");
        PyObject *key = PyDict_GET_SIZE(names) < MOST_NAMES ? name : Py_None;
        if (key == Py_None && (found = PyDict_GetItem(names, key)) != NULL) {
            Py_DECREF(bytes);
        } else if (bytes != NULL) {
            if (PyDict_SetItem(names, key, bytes) == 0)
                found = bytes;
            Py_DECREF(bytes); /* the dictionary has it for good */
        }
    }
    return found != NULL ? PyBytes_AS_STRING(found) : NULL;
}

static PyObject *event(PyObject *self, PyObject *const *args, Py_ssize_t number)
{
    (void)self;
    if (number != 2) {
        PyErr_SetString(PyExc_TypeError, "event() takes a type and a value");
        return NULL;
    }
    const unsigned long type = PyLong_AsUnsignedLongMask(args[0]);
    const unsigned long long value = PyLong_AsUnsignedLongLongMask(args[1]);
    if ((type == (unsigned long)-1 || value == (unsigned long long)-1) && PyErr_Occurred())
        return NULL;
    if (instr_calls.event != NULL)
        instr_calls.event((uint32_t)type, value);
    Py_RETURN_NONE;
}

static PyObject *counter(PyObject *self, PyObject *const *args, Py_ssize_t number)
{
    (void)self;
    if (number != 2) {
        PyErr_SetString(PyExc_TypeError, "counter() takes a name and a value");
        return NULL;
    }
    const unsigned long long value = PyLong_AsUnsignedLongLongMask(args[1]);
    if (value == (unsigned long long)-1 && PyErr_Occurred())
        return NULL;
    const char *const name = kept(args[0]);
    if (name == NULL)
        return NULL;
    if (instr_calls.counter != NULL)
        instr_calls.counter(name, (int64_t)value);
    Py_RETURN_NONE;
}

static PyObject *region_begin(PyObject *self, PyObject *given)
{
    (void)self;
    const char *const name = kept(given);
    if (name == NULL)
        return NULL;
    if (instr_calls.region_begin != NULL)
        instr_calls.region_begin(name);
    Py_RETURN_NONE;
}

static PyObject *region_end(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    if (instr_calls.region_end != NULL)
        instr_calls.region_end();
    Py_RETURN_NONE;
}

static PyObject *start(PyObject *self, PyObject *args)
{
    const char *config;
    int result = INSTR_PYTHON_NOT_RECORDED;
    (void)self;
    if (!PyArg_ParseTuple(args, "z", &config))
        return NULL;
    if (instr_calls.start != NULL) {
        Py_BEGIN_ALLOW_THREADS
        result = instr_calls.start(config);
        Py_END_ALLOW_THREADS
    }
    return PyLong_FromLong(result);
}

static PyObject *stop(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromLong(instr_calls.stop != NULL ? instr_calls.stop() : 0);
}

static PyObject *flush(PyObject *self, PyObject *unused)
{
    int result = -1;
    (void)self;
    (void)unused;
    if (instr_calls.flush != NULL) {
        Py_BEGIN_ALLOW_THREADS
        result = instr_calls.flush();
        Py_END_ALLOW_THREADS
    }
    return PyLong_FromLong(result);
}

#define FAST(name) (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL

PyMethodDef instr_marks[] = {
    {"event", FAST(event)},
    {"counter", FAST(counter)},
    {"region_begin", region_begin, METH_O, NULL},
    {"region_end", region_end, METH_NOARGS, NULL},
    {"start", start, METH_VARARGS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"flush", flush, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool instr_marks_begin(void)
{
    names = PyDict_New();
    return names != NULL;
}

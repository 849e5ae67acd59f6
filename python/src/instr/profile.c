/* Before 3.12: the profile function of every thread. */
#include "hooks.h"

#if !INSTR_MONITORING

#include "c_functions.h"
#include "generators.h"
#include "steps.h"
#include "tell.h"

#include <frameobject.h>
#include <opcode.h>

static int offset_of(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030B0000
    return PyFrame_GetLasti(frame);
#elif PY_VERSION_HEX >= 0x030A0000
    return frame->f_lasti * 2;
#else
    return frame->f_lasti;
#endif
}

/* Whether a frame that is left without an exception may go on. */
static bool suspends(PyCodeObject *code, struct code *extra, int offset)
{
    Py_ssize_t length = 0;
    const unsigned char *const at = instr_instructions(code, extra, &length);
    if (at == NULL || offset < 0 || offset >= length)
        return false;
#if PY_VERSION_HEX < 0x030B0000
    if (at[offset] == YIELD_FROM)
        return true;
    if (offset + 2 < length && at[offset + 2] == YIELD_FROM)
        return true; /* it stands before the instruction that it does again */
#endif
    return at[offset] == YIELD_VALUE;
}

static void on_python(PyFrameObject *frame, int what, PyObject *value)
{
    PyCodeObject *const code = PyFrame_GetCode(frame);
    struct code *extra = instr_code_of((PyObject *)code);
    if (!LIKELY(extra != NULL && extra->generation == instr_generation))
        extra = what == PyTrace_CALL ? instr_code_ask((PyObject *)code) : NULL;
    if (extra != NULL && extra->function != NULL) {
        enum what which;
        if (what == PyTrace_CALL)
            which = !extra->suspends || instr_begins(code, extra, offset_of(frame)) ? AT_BEGIN : AT_RESUME;
        else if (value == NULL)
            which = AT_UNWIND;
        else
            which = extra->suspends && suspends(code, extra, offset_of(frame)) ? AT_SUSPEND : AT_END;
        tell(extra->function, which);
    } else if (extra != NULL && extra->steps) {
        if (what == PyTrace_CALL)
            instr_step_begins();
        else
            instr_step_ends();
    }
    Py_DECREF(code);
}

static void on_c(PyFrameObject *frame, int what, PyObject *callable)
{
    PyCodeObject *const code = PyFrame_GetCode(frame);
    const struct code *const extra = instr_code_of((PyObject *)code);
    if (extra != NULL && extra->generation == instr_generation && extra->function != NULL) {
        struct function *const function = instr_c_function(callable);
        if (function != NULL)
            tell(function, what == PyTrace_C_CALL ? AT_BEGIN : what == PyTrace_C_RETURN ? AT_END : AT_UNWIND);
    }
    Py_DECREF(code);
}

static int on_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *value)
{
    (void)self;
    switch (what) {
    case PyTrace_CALL:
    case PyTrace_RETURN:
        on_python(frame, what, value);
        break;
    case PyTrace_C_CALL:
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (instr_c_functions && value != NULL)
            on_c(frame, what, value);
        break;
    default:
        break;
    }
    return 0;
}

/* profile(on): sets or takes away the profile function of all threads. */
static PyObject *profile(PyObject *self, PyObject *given)
{
    (void)self;
    const int on = PyObject_IsTrue(given);
    if (on < 0)
        return NULL;
    PyInterpreterState *const interpreter = PyInterpreterState_Get();
    for (PyThreadState *t = PyInterpreterState_ThreadHead(interpreter); t != NULL; t = PyThreadState_Next(t)) {
        if (!on && t->c_profilefunc != on_profile)
            continue; /* somebody else's */
        if (_PyEval_SetProfile(t, on ? on_profile : NULL, on ? Py_None : NULL) != 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

/* profile_thread(frame, event, value): what threading.setprofile() has; the first event of a new thread. */
static PyObject *profile_thread(PyObject *self, PyObject *args)
{
    PyObject *frame;
    PyObject *event;
    PyObject *value;
    (void)self;
    if (!PyArg_UnpackTuple(args, "profile_thread", 3, 3, &frame, &event, &value))
        return NULL;
    PyEval_SetProfile(on_profile, Py_None);
    if (PyFrame_Check(frame) && PyUnicode_Check(event) && PyUnicode_CompareWithASCIIString(event, "call") == 0)
        on_python((PyFrameObject *)frame, PyTrace_CALL, Py_None);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"profile", profile, METH_O, NULL},
    {"profile_thread", profile_thread, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool instr_hooks_add(PyObject *module)
{
    return PyModule_AddFunctions(module, methods) == 0;
}

#endif

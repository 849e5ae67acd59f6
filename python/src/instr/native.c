/*
 * Python functions as events of the one runtime of the process.
 *
 * From 3.12 on sys.monitoring calls on_start() and its like; a code object that is not selected costs one call, and nothing from then on. Before,
 * on_profile() is the profile function of every thread.
 */
#include "codes.h"

#include "count.h"

#include <frameobject.h>
#include <opcode.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define COLD __attribute__((noinline, cold))

/* The generation in which the thread's name was told; another one in forked children. */
static _Thread_local uint32_t told_thread __attribute__((tls_model("initial-exec")));
static uint32_t process_number = 1;
static PyObject *thread_name; /* a callable: the calling thread's name, or None */
static PyObject *join;        /* a callable: finds the runtime when the first function is selected */
static bool counts;           /* calls are counted, not recorded */
static bool c_functions;      /* functions of C are recorded too */

/* ---- the runtime, and what is told of a thread before its first function ---- */

static COLD void tell_thread(void)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    told_thread = process_number;
    if (thread_name == NULL || instr_calls.named == NULL)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *const name = PyObject_CallNoArgs(thread_name);
    const char *const text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (text != NULL)
        instr_calls.named(text);
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
        return instr_calls.begin != NULL;
    join = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *const result = PyObject_CallNoArgs(how);
    if (result == NULL)
        PyErr_WriteUnraisable(how);
    Py_XDECREF(result);
    Py_DECREF(how);
    PyErr_Restore(type, value, traceback);
    return instr_calls.begin != NULL;
}

enum what { AT_BEGIN, AT_RESUME, AT_END, AT_SUSPEND, AT_UNWIND };

static COLD void count(struct function *function, enum what what)
{
    if (what == AT_BEGIN || what == AT_RESUME)
        instr_count_begin(function, what == AT_BEGIN);
    else
        instr_count_end(function);
}

static COLD void first(struct function *function, enum what what);

static inline __attribute__((always_inline)) void tell(struct function *function, enum what what)
{
    if (!LIKELY(told_thread == process_number && !counts)) {
        first(function, what);
        return;
    }
    switch (what) {
    case AT_BEGIN:
        instr_calls.begin(&function->told);
        break;
    case AT_RESUME:
        instr_calls.resume(&function->told);
        break;
    case AT_END:
        instr_calls.end(&function->told);
        break;
    case AT_SUSPEND:
        instr_calls.suspend(&function->told);
        break;
    case AT_UNWIND:
        instr_calls.unwind(&function->told);
        break;
    }
}

static COLD void first(struct function *function, enum what what)
{
    if (counts) {
        count(function, what);
        return;
    }
    if (instr_calls.begin == NULL && !find_runtime())
        return;
    tell_thread();
    tell(function, what);
}

/* ---- functions of C ---- */

/* The record of a function of C, found by its definition, which stays. */
#define C_PLACES 4096u
static struct {
    const PyMethodDef *definition;
    struct function *function;
} c_known[C_PLACES];

static COLD struct function *name_c_function(PyObject *callable, const PyMethodDef *definition)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    char text[240];
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *const module = PyObject_GetAttrString(callable, "__module__");
    if (module == NULL)
        PyErr_Clear();
    PyObject *const name = PyObject_GetAttrString(callable, "__qualname__");
    if (name == NULL)
        PyErr_Clear();
    const char *const shown = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    const char *const in = module != NULL && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    PyErr_Clear();
    PyOS_snprintf(text, sizeof text, "%.100s%s%.120s", in != NULL ? in : "", in != NULL ? "." : "", shown != NULL ? shown : definition->ml_name);
    for (char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20)
            *p = '?';
    Py_XDECREF(module);
    Py_XDECREF(name);
    struct function *const function = instr_function_of(text);
    PyErr_Restore(type, value, traceback);
    return function;
}

/* NULL: no function of C. */
static struct function *c_function(PyObject *callable)
{
    const PyMethodDef *definition;
    if (PyCFunction_Check(callable))
        definition = ((PyCFunctionObject *)callable)->m_ml;
    else if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
        definition = ((PyMethodDescrObject *)callable)->d_method;
    else
        return NULL;
    const size_t place = ((uintptr_t)definition >> 4 ^ (uintptr_t)definition >> 16) % C_PLACES;
    if (c_known[place].definition != definition) {
        c_known[place].function = name_c_function(callable, definition);
        c_known[place].definition = definition;
    }
    return c_known[place].function;
}

/* ---- where a generator is ---- */

/* The instructions of a generator, to see where it is. NULL: they are not to be had. */
static const unsigned char *instructions(PyCodeObject *code, struct code *extra, Py_ssize_t *length)
{
    if (extra->bytes == NULL) {
        extra->bytes = PyObject_GetAttrString((PyObject *)code, "co_code");
        if (extra->bytes == NULL)
            PyErr_Clear();
    }
    if (extra->bytes == NULL || !PyBytes_Check(extra->bytes))
        return NULL;
    *length = PyBytes_GET_SIZE(extra->bytes);
    return (const unsigned char *)PyBytes_AS_STRING(extra->bytes);
}

/* Whether a frame that is entered begins, and does not go on. */
static bool begins(PyCodeObject *code, struct code *extra, int offset)
{
#if PY_VERSION_HEX >= 0x030B0000
    if (extra->first < 0) {
        Py_ssize_t length = 0;
        const unsigned char *const at = instructions(code, extra, &length);
        extra->first = 0;
        /* RESUME says whence by its argument. */
        while (extra->first + 1 < length && (at[extra->first] != RESUME || at[extra->first + 1] != 0))
            extra->first += 2;
    }
    /* What is thrown into one that has not begun finds it further up, where the generator was made. */
    return offset <= extra->first;
#else
    (void)code;
    (void)extra;
    return offset < 0;
#endif
}

#if INSTR_MONITORING
/* ---- from 3.12 on ---- */

static PyObject *disable;   /* sys.monitoring.DISABLE */
static PyObject *set_local; /* sys.monitoring.set_local_events, with the tool's number and the events */
static PyObject *tool;
static PyObject *events;

static PyObject *nothing(void)
{
    Py_INCREF(Py_None);
    return Py_None;
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
    if (extra == NULL || extra->function == NULL)
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
    const bool refused = extra != NULL && extra->generation == instr_generation;
    return local && (refused || set_local == NULL) ? no_more() : nothing();
}

#define CALLBACK(name, way, what, local)                                                \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t number)    \
    {                                                                                   \
        (void)self;                                                                     \
        (void)number;                                                                   \
        return way(args[0], what, local);                                               \
    }

CALLBACK(on_start, enters, AT_BEGIN, true)
CALLBACK(on_resume, enters, AT_RESUME, true)
CALLBACK(on_return, leaves, AT_END, true)
CALLBACK(on_yield, leaves, AT_SUSPEND, true)
CALLBACK(on_unwind, leaves, AT_UNWIND, false)

/* An exception is thrown into a generator, which goes on by that, or begins. */
static PyObject *on_throw(PyObject *self, PyObject *const *args, Py_ssize_t number)
{
    struct code *extra = instr_code_of(args[0]);
    (void)self;
    if (extra == NULL || extra->generation != instr_generation)
        extra = meet(args[0]);
    const bool suspends = extra != NULL && extra->function != NULL && extra->suspends;
    const bool is_new = suspends && number >= 2 && begins((PyCodeObject *)args[0], extra, (int)PyLong_AsLong(args[1]));
    return enters(args[0], is_new ? AT_BEGIN : AT_RESUME, false);
}

static PyObject *on_c(PyObject *const *args, Py_ssize_t number, enum what what)
{
    struct code *const extra = number >= 3 ? instr_code_of(args[0]) : NULL;
    if (extra != NULL && extra->generation == instr_generation && extra->function != NULL && c_functions) {
        struct function *const function = c_function(args[2]);
        if (function != NULL)
            tell(function, what);
        return nothing();
    }
    return what == AT_BEGIN ? no_more() : nothing();
}

static PyObject *on_call(PyObject *self, PyObject *const *args, Py_ssize_t number)
{
    (void)self;
    return on_c(args, number, AT_BEGIN);
}

static PyObject *on_c_return(PyObject *self, PyObject *const *args, Py_ssize_t number)
{
    (void)self;
    return on_c(args, number, AT_END);
}

static PyObject *on_c_raise(PyObject *self, PyObject *const *args, Py_ssize_t number)
{
    (void)self;
    return on_c(args, number, AT_UNWIND);
}

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

#else
/* ---- before 3.12 ---- */

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
    const unsigned char *const at = instructions(code, extra, &length);
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
            which = !extra->suspends || begins(code, extra, offset_of(frame)) ? AT_BEGIN : AT_RESUME;
        else if (value == NULL)
            which = AT_UNWIND;
        else
            which = extra->suspends && suspends(code, extra, offset_of(frame)) ? AT_SUSPEND : AT_END;
        tell(extra->function, which);
    }
    Py_DECREF(code);
}

static void on_c(PyFrameObject *frame, int what, PyObject *callable)
{
    PyCodeObject *const code = PyFrame_GetCode(frame);
    const struct code *const extra = instr_code_of((PyObject *)code);
    if (extra != NULL && extra->generation == instr_generation && extra->function != NULL) {
        struct function *const function = c_function(callable);
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
        if (c_functions && value != NULL)
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
#endif

/* ---- what Python calls ---- */

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
    Py_INCREF(how);
    Py_XSETREF(join, how);
    Py_INCREF(name);
    Py_XSETREF(thread_name, name);
    c_functions = c != 0;
    counts = only_count != 0;
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
    if (instr_runtime_join(path, &why))
        Py_RETURN_NONE;
    return PyUnicode_FromString(why);
}

/* place(): the folder of the trace, or "". */
static PyObject *place(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_DecodeFSDefault(instr_calls.place != NULL ? instr_calls.place() : "");
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
    process_number++;
    instr_count_forget();
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

/* ---- the program's own events ---- */

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

static PyMethodDef methods[] = {
#if INSTR_MONITORING
    {"on_start", FAST(on_start)},
    {"on_resume", FAST(on_resume)},
    {"on_return", FAST(on_return)},
    {"on_yield", FAST(on_yield)},
    {"on_throw", FAST(on_throw)},
    {"on_unwind", FAST(on_unwind)},
    {"on_call", FAST(on_call)},
    {"on_c_return", FAST(on_c_return)},
    {"on_c_raise", FAST(on_c_raise)},
    {"monitor", monitor, METH_VARARGS, NULL},
#else
    {"profile", profile, METH_O, NULL},
    {"profile_thread", profile_thread, METH_VARARGS, NULL},
#endif
    {"select", choose, METH_O, NULL},
    {"set", set, METH_VARARGS, NULL},
    {"load", load, METH_VARARGS, NULL},
    {"place", place, METH_NOARGS, NULL},
    {"is_there", is_there, METH_NOARGS, NULL},
    {"is_main", is_main, METH_NOARGS, NULL},
    {"forked", forked, METH_NOARGS, NULL},
    {"counted", counted, METH_NOARGS, NULL},
    {"event", FAST(event)},
    {"counter", FAST(counter)},
    {"region_begin", region_begin, METH_O, NULL},
    {"region_end", region_end, METH_NOARGS, NULL},
    {"start", start, METH_VARARGS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"flush", flush, METH_NOARGS, NULL},
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
    names = PyDict_New();
    if (names == NULL || !instr_codes_begin())
        return NULL;
    return PyModule_Create(&definition);
}

/* What the interpreter does beneath a program: garbage collections and imports, told as functions without a place. */
#include "beneath.h"

#include "tell.h"

/* A collection does not begin in another one. */
static struct function *collecting;

/* on_collection(phase, info): one of gc.callbacks. */
static PyObject *on_collection(PyObject *self, PyObject *const *args, Py_ssize_t number)
{
    (void)self;
    if (number != 2 || !PyUnicode_Check(args[0]) || !PyDict_Check(args[1]) || instr_counts)
        Py_RETURN_NONE;
    if (PyUnicode_CompareWithASCIIString(args[0], "start") == 0) {
        char text[64];
        PyObject *const generation = PyDict_GetItemString(args[1], "generation"); /* borrowed */
        const long level = generation != NULL ? PyLong_AsLong(generation) : -1;
        PyErr_Clear();
        PyOS_snprintf(text, sizeof text, "garbage collection, generation %ld", level);
        collecting = instr_function_of(text);
        if (collecting != NULL)
            tell(collecting, AT_BEGIN);
    } else if (collecting != NULL) {
        tell(collecting, AT_END);
        collecting = NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *find_and_load; /* what was there before on_import() */
static bool imports_are_told;

/* import_by(function): what on_import() calls. */
static PyObject *import_by(PyObject *self, PyObject *function)
{
    (void)self;
    Py_INCREF(function);
    Py_XSETREF(find_and_load, function);
    Py_RETURN_NONE;
}

/* tell_imports(whether): somebody else may stand before on_import() and keep it. */
static PyObject *tell_imports(PyObject *self, PyObject *whether)
{
    (void)self;
    const int told = PyObject_IsTrue(whether);
    if (told < 0)
        return NULL;
    imports_are_told = told != 0;
    Py_RETURN_NONE;
}

static struct function *import_of(PyObject *module)
{
    char text[200];
    const char *const name = PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    PyErr_Clear();
    PyOS_snprintf(text, sizeof text, "import %.180s", name != NULL ? name : "?");
    for (char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20)
            *p = '?';
    return instr_function_of(text);
}

/* on_import(name, …): stands before what the interpreter calls for a module that is not loaded yet. It has no frame, and is in no traceback. */
static PyObject *on_import(PyObject *self, PyObject *const *args, Py_ssize_t number, PyObject *keywords)
{
    (void)self;
    if (find_and_load == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "instr: there is nothing to import by");
        return NULL;
    }
    PyObject *const by = find_and_load;
    struct function *const function = number > 0 && imports_are_told && !instr_counts ? import_of(args[0]) : NULL;
    Py_INCREF(by);
    if (function != NULL)
        tell(function, AT_BEGIN);
    PyObject *const result = PyObject_Vectorcall(by, args, (size_t)number, keywords);
    if (function != NULL)
        tell(function, result != NULL ? AT_END : AT_UNWIND);
    Py_DECREF(by);
    return result;
}

PyMethodDef instr_beneath[] = {
    {"on_collection", (PyCFunction)(void (*)(void))on_collection, METH_FASTCALL, NULL},
    {"on_import", (PyCFunction)(void (*)(void))on_import, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"import_by", import_by, METH_O, NULL},
    {"tell_imports", tell_imports, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

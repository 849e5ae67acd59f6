#include "c_functions.h"

#include "tell.h"

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

struct function *instr_c_function(PyObject *callable)
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

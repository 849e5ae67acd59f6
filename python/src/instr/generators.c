#include "generators.h"

#include <opcode.h>

const unsigned char *instr_instructions(PyCodeObject *code, struct code *extra, Py_ssize_t *length)
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

bool instr_begins(PyCodeObject *code, struct code *extra, int offset)
{
#if PY_VERSION_HEX >= 0x030B0000
    if (extra->first < 0) {
        Py_ssize_t length = 0;
        const unsigned char *const at = instr_instructions(code, extra, &length);
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

/*
 * Where the interpreter's lock is, and who has it. Only the interpreter's own header files say that; they are those of the release for which the
 * extension is built, and it is built for each.
 */
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>

#if PY_VERSION_HEX >= 0x030C0000
#include "internal/pycore_interp.h"
#else
#include "internal/pycore_runtime.h"
#endif

#include "gil.h"
#include "runtime.h"

static struct _gil_runtime_state *lock(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyInterpreterState_Main()->ceval.gil;
#else
    return &_PyRuntime.ceval.gil;
#endif
}

/* The system's number of the thread that has it. Who asks has found it taken, and keeps its mutex: the thread that has it cannot give it back. */
static uint32_t holder(void)
{
#if PY_VERSION_HEX >= 0x030B0000
    const PyThreadState *has;
    __atomic_load((const PyThreadState *const *)(const void *)&lock()->last_holder, &has, __ATOMIC_RELAXED);
    return has != NULL ? (uint32_t)has->native_thread_id : 0;
#else
    return 0; /* threads have no such number */
#endif
}

void instr_gil_tell(void)
{
    if (lock() != NULL)
        instr_calls.interpreter_lock(&lock()->cond, holder);
}

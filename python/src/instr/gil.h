/* The interpreter's lock (GIL). */
#ifndef INSTR_PYTHON_GIL_H
#define INSTR_PYTHON_GIL_H

/* Tells the runtime by which condition threads wait for it, so that it records these waits where it records those of threads. */
void instr_gil_tell(void);

#endif

/*
 * For runtimes of languages: which of a program's functions run when. Programs themselves need none of this: python/ uses it for Python.
 *
 *     static struct instr_function work = {.text = "app.work\t/home/me/app.py:12"};
 *     instr_function_begin(&work); … instr_function_end(&work);
 *
 * A thread's functions nest. A function that is suspended (a generator that yields) leaves its thread, and may go on on any.
 */
#ifndef INSTR_FUNCTIONS_H
#define INSTR_FUNCTIONS_H

#include <stdint.h>

/* Threads that run a function at a time, before they define it to the trace more often than they must. */
#define INSTR_FUNCTION_THREADS 4

struct instr_function {
    /* Its name, a tab, and FILE:LINE; a function of C has its name alone. It stays, and never changes. */
    const char *text;
    /* The runtime's: packets that hold the text. 0 at first. */
    uint32_t packets[INSTR_FUNCTION_THREADS];
};

/* It begins on the calling thread. */
void instr_function_begin(struct instr_function *function);
/* It returns. */
void instr_function_end(struct instr_function *function);
/* An exception leaves it. */
void instr_function_unwind(struct instr_function *function);
/* It leaves its thread, to go on later. */
void instr_function_suspend(struct instr_function *function);
/* It goes on. */
void instr_function_resume(struct instr_function *function);

/* What the calling thread is called from now on; the first 31 bytes count. */
void instr_thread_is_named(const char *name);

/*
 * Waits for this condition of POSIX are waits for the interpreter's lock. `holder` gives the system's number of the thread that has the lock, or
 * 0; it is called when a wait begins, by the thread that waits.
 */
void instr_interpreter_lock(const void *condition, uint32_t (*holder)(void));

/* The absolute path of the trace's folder; "" where there is none. */
const char *instr_trace_place(void);

#endif

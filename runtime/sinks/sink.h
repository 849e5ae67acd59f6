/*
 * Where bytes go. A sink owns the place of one trace; names inside it are those of docs/trace-format.md.
 * Every function returns false (or NULL) when the place refuses; the caller counts what is lost.
 */
#ifndef INSTR_SINK_H
#define INSTR_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a place for `program`'s trace: `wanted` (INSTR_TRACE) or, when NULL, `./NAME.instr`. Another program's trace is never
 * touched: the next free name with -2, -3 … is taken. */
bool instr_sink_open(const char *wanted, const char *program);

/* Opens the place of a forked child inside its parent's. */
bool instr_sink_open_child(uint32_t pid);

/* A zeroed block of `bytes` that survives the process (window file `number`), or NULL. */
void *instr_sink_window(uint32_t number, size_t bytes);
void instr_sink_window_remove(uint32_t number);

/* Appends a whole packet to a thread's stream, or nothing. */
bool instr_sink_append(uint32_t thread, const void *bytes, size_t count);

/* Text of the metadata, replaced as a whole: begin, write …, end. */
bool instr_sink_text_begin(void);
void instr_sink_text(const char *bytes, size_t count);
bool instr_sink_text_end(void);

#endif

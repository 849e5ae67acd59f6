/*
 * The folder of a trace, for the file sink: found or made, checked, and the only way to its files.
 *
 * The traced program may run in a folder where others may write, so nothing that is found there is trusted. A trace's folder is one
 * that was just made, or a real directory that the effective user owns and nobody else may write to (docs/security.md).
 */
#ifndef INSTR_FILE_PLACE_H
#define INSTR_FILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Takes a folder for `program`'s trace, as instr_sink.open. */
bool instr_place_open(const char *wanted, const char *program);

/* Makes the folder of a forked child inside its parent's, and goes there. */
bool instr_place_open_child(uint32_t pid);

/* How a file is opened. */
enum instr_file_use {
    INSTR_FILE_APPEND,  /* the file, made if it is not there, and written at its end */
    INSTR_FILE_NEW,     /* a new file, in the place of whatever had this name */
    INSTR_FILE_PRIVATE, /* the same, which nobody but its owner may read */
    INSTR_FILE_NONE,    /* it is removed */
};

/* Opens the file `name`, or `nameNNNN` with number != UINT32_MAX, of the trace. -1 when it cannot be made, or is no file. */
int instr_place_file(const char *name, uint32_t number, enum instr_file_use use);

/* Gives a file of the trace another name. */
bool instr_place_rename(const char *from, const char *to);

#endif

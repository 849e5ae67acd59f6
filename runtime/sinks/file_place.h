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
#include <sys/stat.h>

#include "arch/arch.h"

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

/* Which file a descriptor is of: the program may close every descriptor at any moment, and open another file under its number. */
struct instr_file_id {
    dev_t device;
    ino_t inode;
};

/*
 * Opens the file `name`, or `nameNNNN` with number != UINT32_MAX, of the trace. -1 when it cannot be made, or is no file. What was opened, which the
 * descriptor is of as long as nobody else closes it, is *opened; not on SPARC. NULL with INSTR_FILE_NONE.
 */
int instr_place_file(const char *name, uint32_t number, enum instr_file_use use, struct instr_file_id *opened);

#if INSTR_KEEPS_RUNS
/* Whether a descriptor is of this file, still. With `bytes` it must be a regular file, which is so long. */
bool instr_place_is(int fd, const struct instr_file_id *file, off_t *bytes);
#endif

/* Gives a file of the trace another name. */
bool instr_place_rename(const char *from, const char *to);

enum instr_content { CONTENT_EMPTY, CONTENT_OURS, CONTENT_FOREIGN };

/* Of a metadata file: its entries up to the loaded objects. */
#define INSTR_HEAD_BYTES 8192u

#define INSTR_WRITE_BY_OTHERS (S_IWGRP | S_IWOTH)

#if INSTR_KEEPS_RUNS
/* The trace is closed and recorded nothing: it gives its name back to the run before. */
void instr_place_give_way(bool vanish);

/* With what follows, sinks/file_runs.c looks at the folders of earlier runs. */

/* Opens the directory `name` in `parent` to reach what is in it. It need not be readable. */
int instr_place_enter(int parent, const char *name, struct stat *status);

/*
 * What a directory holds: nothing, a trace (only files of ours), or something else. With `clear` the files of a trace are removed, one
 * level of forked children's traces at a time, since children nest. The lock is no part of it.
 */
enum instr_content instr_place_look(int in, unsigned depth, bool clear);

/*
 * Opens a file. Whatever the program's mask takes away, the trace's owner can read and write it: the mask of a program is meant for the
 * program's own files. What is no file is refused, and nothing is waited for: a pipe may have no other end.
 */
int instr_place_open_ours(int in, const char *name, int flags, mode_t mode);

/* Whether behind `key`, which ends with a quote, stands `value` as instr_metadata_write() quotes it. */
bool instr_place_is_text(const char *text, const char *key, const char *value);

/* The number behind `key` in `text`; 0 when there is none. */
long instr_place_number(const char *text, const char *key);

/*
 * Whether the trace in a folder is an earlier run of `program` that is over, and the begin of its metadata. One that was not closed and whose
 * process lives stays: it is being written (the process may have lost its lock), or it is the part of this very run before exec.
 */
bool instr_place_is_earlier(int in, const char *program, char head[INSTR_HEAD_BYTES]);

/* Whether a child's trace in a folder is still written: the process that made the folder is over, and a daemon that it forked has closed the lock. */
bool instr_place_has_writers(int in, unsigned depth);
#endif

#endif

/*
 * Earlier runs are kept (docs/decisions/0020-runs-are-kept.md): before a run takes the folder NAME of an earlier one, that folder is renamed to
 * NAME.N, where N is the earlier run's number. sinks/file_place.c, which finds and checks folders, calls what is here.
 */
#ifndef INSTR_FILE_RUNS_H
#define INSTR_FILE_RUNS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "arch/arch.h"

#if INSTR_KEEPS_RUNS
/* What becomes of the run whose folder a new one takes. */
enum instr_run_before {
    INSTR_RUN_REPLACED, /* there is none, or nothing that is worth keeping */
    INSTR_RUN_MOVED,    /* it has another name now, and `place` is free */
    INSTR_RUN_STUCK,    /* it cannot be renamed; instr_sink_trouble says so */
};

/* `place` is the folder `taken`, which is locked; `head` is the begin of its metadata, "" where the folder is empty. */
enum instr_run_before instr_runs_before(const char *place, const struct stat *taken, const char *head);

/* The new run could not take the folder after all: the run before gets its name back. */
void instr_runs_back(const char *place);

/* The run has its folder `in`: the program is linked into it, and runs that are too many are removed. */
void instr_runs_begin(const char *place, int in, const char *program);

/* This run, in the folder `taken`, recorded nothing: it is renamed to NAME.empty, or removed (`vanish`), and the run before gets its name back. */
void instr_runs_give_way(const char *place, const struct stat *taken, bool vanish);
#endif

#endif

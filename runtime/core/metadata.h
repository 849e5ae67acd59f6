/* The trace's metadata: CTF's TSDL text, with what the host must know in its env block. */
#ifndef INSTR_METADATA_H
#define INSTR_METADATA_H

#include <stdbool.h>

#include "core/process.h"

struct instr_metadata {
    const char *executable;
    struct instr_clock_pair start;
    uint64_t frequency; /* ticks per second */
    bool closed;
#if INSTR_KEEPS_RUNS
    bool empty; /* no event was recorded */
#endif
    uint32_t processors;      /* that the process may use; 0: not known */
    uint32_t processor_quota; /* of their time, in thousandths of one processor; 0: all */
    const struct instr_thread *windows; /* whose streams' packets are told; NULL: of none */
};

/* The OpenMP runtime that is recorded, and its version string (ompt/tool.c replaces it). `closed`: the program ends. */
const char *instr_openmp(bool closed);

/* Writes through the sink what is the same in every trace: the types, or the stream and its events (core/declarations.c). */
void instr_metadata_declare(bool stream);

/* Writes the metadata through the sink. False when the sink refused. */
bool instr_metadata_write(const struct instr_metadata *m);

#endif

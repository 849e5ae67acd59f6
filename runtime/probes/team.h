/* What the probes of parallel constructs share: the header that travels to the team, and implicit tasks. */
#ifndef INSTR_TEAM_H
#define INSTR_TEAM_H

#include "core/record.h"
#include "instr/probes.h"

/* The work-sharing construct that a combined construct begins with. */
struct instr_work {
    uint32_t kind; /* INSTR_PARALLEL_REGION: none */
    uint32_t schedule;
    uint32_t count; /* sections */
    long start;
    long end;
    long incr;
    long chunk;
};

/* Given to the OpenMP runtime as the region's data. */
struct instr_team {
    uintptr_t reductions; /* first word of the user's data: GOMP_parallel_reductions reads it there */
    instr_fn *fn;
    void *data;
    uint32_t thread; /* region id */
    uint32_t seq;
    const struct instr_work *work; /* NULL: none */
};

/* What a thread was doing before its implicit task began. */
struct instr_outer {
    uint32_t task_thread;
    uint32_t task_seq;
    uint32_t region_thread;
    uint32_t region_seq;
    uint32_t doacross;
    uint32_t scope;
};

/* Body of the region as the OpenMP runtime calls it: begins and ends the implicit task around the user's body. */
void instr_team_body(void *team);

/* Writes parallel_begin and returns the region's number. */
uint32_t instr_region_open(struct instr_thread *t, instr_fn *fn, unsigned num_threads, unsigned kind);

/* The implicit task of the calling thread begins, as libgomp numbers it; or as the caller does. */
void instr_implicit_begin(struct instr_thread *t, const struct instr_team *team, struct instr_outer *outer);
void instr_implicit_enter(struct instr_thread *t, const struct instr_team *team, uint32_t number, uint32_t size,
                          struct instr_outer *outer);
void instr_implicit_end(struct instr_thread *t, const struct instr_outer *outer);

/* loop_begin; also used by the loop probes. */
void instr_loop_begin(struct instr_thread *t, uint32_t schedule, int64_t start, int64_t end, int64_t incr, int64_t chunk);

#endif

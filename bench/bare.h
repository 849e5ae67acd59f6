/*
 * The least a tracer of OpenMP does: wrappers for GOMP_parallel or GOMP_task (linked with --wrap) that store what a
 * trace needs, with a time stamp each, into a buffer of the thread, and never look at it. No identification of threads
 * but the buffer itself, no loss accounting, no file, no check whether tracing is on.
 */
#ifndef BARE_H
#define BARE_H

#include "bench.h"

enum { BARE_WORDS = 1 << 17, BARE_SLACK = 16 };

static _Thread_local uint64_t bare_buffer[BARE_WORDS];
static _Thread_local unsigned bare_cursor;

/* Room for one event; the first word is its time and kind. */
static inline uint64_t *bare_event(uint64_t kind, unsigned words)
{
    if (bare_cursor + words > BARE_WORDS - BARE_SLACK)
        bare_cursor = 0;
    uint64_t *event = &bare_buffer[bare_cursor];
    bare_cursor += words;
    event[0] = bench_ticks() << 8 | kind;
    return event;
}

typedef void body(void *);

#endif

/* The traced process: its clock, its threads, its beginning and end. */
#ifndef INSTR_PROCESS_H
#define INSTR_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"

/* One moment on all clocks. */
struct instr_clock_pair {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
};

/* INSTR_ON_TICKS or INSTR_ON_SYSTEM: the clock of this trace, also while recording is off. */
uint32_t instr_process_clock(void);

/* Reads all clocks, the tightest of a few tries. */
void instr_read_clocks(struct instr_clock_pair *pair);

/* Writes a clock_sync event into `t`, whose guard the caller holds. */
void instr_append_clock_sync(struct instr_thread *t);

/* Rewrites the metadata if objects were loaded since. */
void instr_modules_changed(void);

/* Called by the platform: the calling thread ends; this process is a forked child; the process ends. */
void instr_thread_ended(struct instr_thread *t);
void instr_forked(void);
void instr_finish(void);

/* Turns recording off or on again (instr_stop, instr_start). False when nothing changed. */
bool instr_switch(bool on);

/* Events lost on threads that could not be given a window. */
uint64_t instr_lost_unattached(void);

#endif

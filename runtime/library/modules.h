/*
 * The objects that the process has loaded so far. A library that is unloaded before the end stays in the list: its addresses are in the
 * trace. Where another one takes its place, each has the time from which on the place was its.
 */
#ifndef INSTR_LIBRARY_MODULES_H
#define INSTR_LIBRARY_MODULES_H

#include <stdint.h>

#include "platform/platform.h"

/*
 * Brings the list up to date (`ticks`: now) and tells all of it to `fn`, whose `arg` counts; in front of an object that was not there at the
 * start goes a line `module_NUMBER_since` of the metadata. One caller at a time. Not in static programs, which load nothing.
 */
void instr_modules_tell(instr_module_fn *fn, uint64_t *arg, uint64_t ticks) __attribute__((weak));

#endif

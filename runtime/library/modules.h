/*
 * The objects that the process has loaded so far. A library that is unloaded before the end stays in the list: its addresses are in the
 * trace. Where another one takes its place, each has the time from which on the place was its.
 */
#ifndef INSTR_LIBRARY_MODULES_H
#define INSTR_LIBRARY_MODULES_H

#include <stddef.h>
#include <stdint.h>

struct instr_module {
    struct instr_module *next;
    uint64_t since; /* ticks; 0: from the beginning, as far as is known */
    uintptr_t base; /* load bias */
    uintptr_t end;
    const char *path;
    const uint8_t *id; /* build id */
    size_t id_bytes;
};

/* Adds what is loaded now and brings the list up to date. One caller at a time. Not in static programs, which load nothing. */
const struct instr_module *instr_modules(uint64_t ticks) __attribute__((weak));

#endif

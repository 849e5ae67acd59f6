/* perf_event_open: names of events as perf spells them, and why the kernel refused. */
#ifndef INSTR_LINUX_PERF_H
#define INSTR_LINUX_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Fills type, config and the exclude bits for an event: "cycles", "task-clock:u", "L1-dcache-load-misses", "r01a8",
 * "cpu/event=0x3c,umask=0/u", "cpu/cache-misses/". False when there is no such event.
 */
bool instr_perf_parse(const char *text, size_t length, struct perf_event_attr *attr);

/* Why perf_event_open failed with this errno. */
const char *instr_perf_reason(int error);

#endif

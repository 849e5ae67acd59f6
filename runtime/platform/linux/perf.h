/* perf_event_open: names of events as perf spells them, and why the kernel refused. */
#ifndef INSTR_PLATFORM_LINUX_PERF_H
#define INSTR_PLATFORM_LINUX_PERF_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fills type, config and the exclude bits for an event: "cycles", "task-clock:u", "L1-dcache-load-misses", "r01a8",
 * "cpu/event=0x3c,umask=0/u", "cpu/cache-misses/", "sched:sched_switch". NULL, or why there is no such event.
 */
const char *instr_perf_parse(const char *text, size_t length, struct perf_event_attr *attr);

/*
 * What an event that was counted in `running` of the `enabled` nanoseconds would have counted in all of them: value × enabled / running
 * (perf_event_open(2), "multiplexing"), the whole part exactly.
 */
uint64_t instr_perf_scaled(uint64_t value, uint64_t enabled, uint64_t running);

/* Why perf_event_open failed with this errno. */
const char *instr_perf_reason(int error);

#endif

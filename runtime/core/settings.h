/* The INSTR_* settings of a traced program, read once at its start. */
#ifndef INSTR_SETTINGS_H
#define INSTR_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

enum instr_policy { INSTR_POLICY_STREAM, INSTR_POLICY_END, INSTR_POLICY_RING };

enum instr_sink_kind { INSTR_SINK_FILE, INSTR_SINK_CONSOLE, INSTR_SINK_RAM, INSTR_SINK_OWN };

struct instr_settings {
    bool enabled;            /* INSTR_ENABLED */
    bool verbose;            /* INSTR_VERBOSE */
    bool paused;             /* INSTR_PAUSED: the trace begins with instr_start() */
    bool memory;             /* INSTR_MEMORY: of programs linked with the probes of the heap */
    bool stack;              /* INSTR_STACK */
    uint64_t sampling_ns;    /* INSTR_SAMPLING_PERIOD; 0: no sampling */
    uint32_t sampling_clock; /* INSTR_SAMPLING_CLOCK: INSTR_SAMPLING_CPU or INSTR_SAMPLING_REAL */
    uint32_t sampling_depth; /* INSTR_SAMPLING_DEPTH: return addresses of a sample */
    uint32_t sampling_stack; /* INSTR_SAMPLING_STACK: bytes of the stack copied with a sample */
    const char *sampling_signal; /* INSTR_SAMPLING_SIGNAL, or NULL */
    enum instr_policy policy; /* INSTR_POLICY */
    uint32_t buffer;         /* INSTR_BUFFER: packet space of a thread, bytes; a multiple of 8 × slots */
    enum instr_sink_kind sink; /* INSTR_SINK */
    uint32_t write_max;      /* INSTR_WRITE_MAX: the most bytes of one write(), 0: no limit */
    uint32_t keep;           /* INSTR_KEEP: earlier runs of each command line that stay; 0: a run replaces the one before */
    bool switches;           /* INSTR_SWITCHES: context switches are recorded, where the system tells them */
    bool switches_forced;    /* it is 1, and not merely not set */
    uint32_t slots;          /* derived from the policy */
    const char *trace;       /* INSTR_TRACE, or NULL */
    const char *sensors;     /* INSTR_SENSORS, or NULL: none */
    const char *l4stat;      /* INSTR_L4STAT: what the counters of a LEON statistics unit count, or NULL */
    const char *counters;    /* INSTR_COUNTERS, or NULL: none */
    const char *sensors_root; /* INSTR_SENSORS_ROOT: in front of the system's paths, "" by default */
    uint64_t sensors_period_ns; /* INSTR_SENSORS_PERIOD, 0: not read on a period */
    uint32_t sensors_at;     /* INSTR_SENSORS_AT: bits of enum instr_sensor_point */
    const char *trouble;     /* settings that were not understood, with " | " between them (small processors: the first one), or NULL */
};

extern struct instr_settings instr_settings;

/* What is wrong with a setting; on a small system the texts are not worth their room. */
#if INSTR_PLATFORM_SMALL
#define INSTR_WHY(text) "a setting is not understood: its default is used"
#else
#define INSTR_WHY(text) text
#endif

/* Leaves a word in `trouble`, behind those that are there. While the process has one thread. */
void instr_settings_complain(const char *why);

/* Reads the environment. Malformed values keep their default and leave a word in `trouble`. */
void instr_settings_read(void);

#if INSTR_KEEPS_RUNS
/* Reads again what may change when the trace has begun: CHANGEABLE of schema/src/settings.rs. */
void instr_settings_read_again(void);
#endif

/* Where there are probes of threads (probes/pthread_settings.c): reads what is recorded of them. Where code size counts, their first call does. */
#if INSTR_KEEPS_RUNS
void instr_pthread_settings(void) __attribute__((weak));
#else
void instr_pthread_settings(void);
#endif

const char *instr_policy_name(enum instr_policy policy);

/* The value of a setting; NULL when it is empty or not there. */
const char *instr_setting_text(const char *name);

/* Parses "65536", "64K", "4M", "1G" (powers of 1024); false when malformed. */
bool instr_parse_size(const char *text, uint64_t *bytes);

/* Parses "500us", "10ms", "2s" into nanoseconds; false when malformed, 0 or longer than a day. */
bool instr_parse_time(const char *text, uint64_t *ns);

#endif

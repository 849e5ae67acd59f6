/*
 * Sensors: whatever can be read as a few integers while the program runs. A temperature, the energy a chip used, cache misses that a
 * statistics unit counted, the pressure the system is under.
 *
 * A driver (sensors/…, platform/OS_sensors.c, a board's own file) fills a table per sensor and offers it; the framework decides
 * whether it was asked for (INSTR_SENSORS), tries it once, reads it at the chosen points and describes it in the metadata. A sensor
 * that is not there, or stops working, costs the program nothing but its values: it says why once, and the run goes on.
 *
 *     static int read_temperature(struct instr_sensor *s, int64_t *values) { values[0] = *(volatile uint32_t *)s->place & 0x7f; return 0; }
 *     static struct instr_sensor temperature = {.name = "gr740/temperature", .unit = "raw", .values = 1, .read = read_temperature};
 *
 *     void instr_sensors_discover(void)            // the platform's part, called once
 *     {
 *         if (address found) { temperature.place = address; (void)instr_sensor_offer(&temperature); }
 *         else instr_sensor_missing("gr740/temperature", "no such device on the plug&play bus");
 *     }
 *
 * Nothing here allocates, and nothing names an operating system. Numbers stay raw: the host applies scale, wrap-around and names.
 */
#ifndef INSTR_SENSORS_H
#define INSTR_SENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instr_thread;

/* Most values of one reading: what a probe may put on a small stack. A larger device is several sensors. */
#define INSTR_SENSOR_VALUES 16u

/* Sensors that can be recorded at once, and reasons that are kept. */
#ifndef INSTR_CFG_SENSORS
#if UINTPTR_MAX > 0xffffffffu
#define INSTR_CFG_SENSORS 1024u
#else
#define INSTR_CFG_SENSORS 128u
#endif
#endif
#ifndef INSTR_CFG_SENSOR_TROUBLES
#define INSTR_CFG_SENSOR_TROUBLES 32u
#endif

enum instr_sensor_kind {
    INSTR_SENSOR_LEVEL = 0, /* how much there is now: temperature, power, frequency */
    INSTR_SENSOR_TOTAL = 1  /* only grows, may wrap to zero: the difference of two readings counts. Energy, misses, time */
};

/* When sensors (and counters of threads) are read; bits, also those of instr_process.points. */
enum instr_sensor_point {
    INSTR_AT_BEGIN_END = 1, /* begin and end of the trace, on the thread that begins and ends it */
    INSTR_AT_PERIOD = 2,    /* every INSTR_SENSORS_PERIOD, on a thread or timer of the runtime's own */
    INSTR_AT_REGION = 4,    /* begin and end of a parallel region, and of a user region, on its thread */
    INSTR_AT_IMPLICIT = 8,  /* begin and end of an implicit task */
    INSTR_AT_TASK = 16,     /* end of an explicit task */
    INSTR_AT_TASK_BEGIN = 32, /* its begin: counters only */
    INSTR_AT_SAMPLE = 64,   /* each sample of a thread, in a signal handler on it: `read` must be async-signal-safe, or `skip` it */
    INSTR_AT_FUNCTION = 128 /* a function of a language begins or goes on, and before it leaves its thread */
};

enum instr_sensor_state { INSTR_SENSOR_OFF = 0, INSTR_SENSOR_ON = 1, INSTR_SENSOR_LOST = 2 };

struct instr_sensor {
    /* Filled by the driver. Texts must stay valid; blanks in them are written as '_'. NULL or 0 stands for the default. */
    const char *name;   /* family/device/…, as INSTR_SENSORS selects it: "rapl/package-0/dram", "l4stat" */
    const char *unit;   /* of value × scale, as in "J", "W", "degC", "Hz"; default "" (a number) */
    const char *scale;  /* a decimal number as text, "0.001" or "1e-6" (the host multiplies); default "1" */
    const char *labels; /* of the values, separated by commas; default none */
    const char *source; /* where it comes from, for people: a path, a register; default none */
    uint32_t values;    /* of one reading, 1 to INSTR_SENSOR_VALUES */
    uint32_t kind;      /* enum instr_sensor_kind */
    uint64_t wrap;      /* a total counts modulo this; 0: 2^64 */
    uint32_t cost_ns;   /* of a reading; 0: the framework measures it when the sensor is offered */
    uint32_t skip;      /* read points this sensor is too slow for: bits of enum instr_sensor_point */

    /* Gets the device ready. NULL when it works, else why not, in a few words. May be NULL itself. */
    const char *(*init)(struct instr_sensor *s);

    /*
     * Stores `values` numbers and returns 0; -1 when there is no value this time; else why it failed: a number for people (errno where
     * there is one), and the sensor is not read again. Called by any thread, by several at once, or from a timer interrupt: no locks, no
     * allocation.
     */
    int (*read)(struct instr_sensor *s, int64_t *values);

    /* The driver's own. */
    uintptr_t place;
    int32_t handle;

    /* The framework's own. */
    uint32_t number;
    volatile uint32_t state; /* enum instr_sensor_state */
    volatile uint32_t missed; /* readings without a value */
};

/* ---- for drivers ---- */

/* The platform's part, called once at the start when any sensor was asked for: offers what there is, says what is missing. */
void instr_sensors_discover(void);

/* Whether INSTR_SENSORS selects a sensor of this name, or may select one below it ("rapl" for "rapl/package-0"). */
bool instr_sensor_wanted(const char *name);
bool instr_sensor_family_wanted(const char *family);

/* Takes a sensor on: true when it was asked for and works. Else nothing of it is kept but its reason. */
bool instr_sensor_offer(struct instr_sensor *s);

/* Says why something that was asked for is not there. Both texts must stay valid. Nothing happens when it was not asked for. */
void instr_sensor_missing(const char *name, const char *why);

/* ---- what every platform defines, beside instr_sensors_discover (empty where it has nothing of the kind) ---- */

/*
 * Begins to call instr_sensors_read(t, INSTR_AT_PERIOD) every `period_ns` until the end, from a thread of the runtime's own
 * (instr_attach_own) or from a timer. NULL when it does, else why not. After _end nothing calls any more.
 */
const char *instr_sensors_period_begin(uint64_t period_ns);
void instr_sensors_period_end(void);

/*
 * Counters of threads (INSTR_COUNTERS): looked for once, opened when a thread is attached, read at the chosen points on their own thread,
 * read a last time and closed at its end (by any thread; its guard is taken), forgotten in a forked child. Only one thread at a time
 * opens or closes. `_begin` returns whether there is any; `_describe` writes "counter_" lines.
 */
typedef void instr_sensor_line(const char *key, uint32_t number, const char *const *words, unsigned count);
bool instr_counters_begin(void);
void instr_counters_describe(instr_sensor_line *line);
void instr_counters_open(struct instr_thread *t);
void instr_counters_read(struct instr_thread *t);
void instr_counters_close(struct instr_thread *t);
void instr_counters_forked(void);

/* ---- for the core ---- */

/* Reads every sensor that is due at `point` and records the values in the stream of `t`, the calling thread's (or the interrupted one's). */
void instr_sensors_read(struct instr_thread *t, unsigned point);

/* Reads the settings. */
void instr_sensors_settings(void);

/* Finds what the settings ask for; before the metadata is written. Returns the read points in use (instr_process.points). */
uint32_t instr_sensors_begin(void);

/* The trace has begun, on thread `t`; it will end (`t` may be NULL); this is a forked child. */
void instr_sensors_started(struct instr_thread *t);
void instr_sensors_finish(struct instr_thread *t);
void instr_sensors_forked(void);

/* Sensors and counters that are due at `point`: probes call instr_point() of core/record.h. */
__attribute__((cold, noinline)) void instr_at_point(struct instr_thread *t, unsigned point);

/* Describes sensors, counters and what is missing: one line KEY_N = "WORD WORD …" each, through `line`. */
void instr_sensors_describe(instr_sensor_line *line);

/* What was found. */
extern struct instr_sensor *instr_sensors[INSTR_CFG_SENSORS];
extern uint32_t instr_sensor_count;

struct instr_sensor_trouble {
    const char *name;
    const char *why;
};
extern struct instr_sensor_trouble instr_sensor_troubles[INSTR_CFG_SENSOR_TROUBLES];
extern uint32_t instr_sensor_trouble_count;

#endif

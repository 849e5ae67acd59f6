/* The sensor framework: which sensors were asked for, trying them, reading them. */
#include "core/cold.h"

#include "sensors/sensors.h"

#include <string.h>

#include "core/record.h"
#include "core/settings.h"
#include "sensors/select.h"

struct instr_sensor *instr_sensors[INSTR_CFG_SENSORS];
uint32_t instr_sensor_count;
struct instr_sensor_trouble instr_sensor_troubles[INSTR_CFG_SENSOR_TROUBLES];
uint32_t instr_sensor_trouble_count;

static uint32_t sensor_points;  /* where sensors are read */
static uint32_t counter_points; /* where counters of threads are read */
static bool period_runs;

/* ---- what was asked for ---- */

bool instr_sensor_wanted(const char *name)
{
    return instr_settings.sensors != NULL && instr_selects(instr_settings.sensors, name);
}

bool instr_sensor_family_wanted(const char *family)
{
    return instr_settings.sensors != NULL && instr_selects_below(instr_settings.sensors, family);
}

static void trouble(const char *name, const char *why)
{
    for (uint32_t i = 0; i < instr_sensor_trouble_count; i++)
        if (strcmp(instr_sensor_troubles[i].name, name) == 0 && strcmp(instr_sensor_troubles[i].why, why) == 0)
            return;
    if (instr_sensor_trouble_count < INSTR_CFG_SENSOR_TROUBLES)
        instr_sensor_troubles[instr_sensor_trouble_count++] = (struct instr_sensor_trouble){name, why};
    if (!instr_settings.verbose)
        return;
    instr_platform_say("instr: note: not read: ");
    instr_platform_say(name);
    instr_platform_say(": ");
    instr_platform_say(why);
    instr_platform_say("\n");
}

void instr_sensor_missing(const char *name, const char *why)
{
    if (instr_sensor_family_wanted(name))
        trouble(name, why);
}

/* ---- taking sensors on ---- */

/* Nanoseconds of one reading, the shorter of two: the first one may open doors for the second. `error`: as from read. */
static uint32_t measure(struct instr_sensor *s, int *error)
{
    int64_t values[INSTR_SENSOR_VALUES];
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        const uint64_t before = instr_platform_monotonic_ns();
        *error = s->read(s, values);
        const uint64_t took = instr_platform_monotonic_ns() - before;
        if (*error > 0)
            return 0;
        if (took < best)
            best = took;
    }
    return best == 0 ? 1u : best < UINT32_MAX ? (uint32_t)best : UINT32_MAX;
}

static const char *reason_of(int error)
{
#if INSTR_PLATFORM_SMALL
    (void)error; /* the texts are not worth their room */
#else
    static const struct {
        int number;
        const char *why;
    } REASONS[] = {
        {1, "reading it failed: operation not permitted"},
        {2, "reading it failed: no such file"},
        {5, "reading it failed: input/output error"},
        {6, "reading it failed: no such device"},
        {11, "reading it failed: no value available"},
        {13, "reading it failed: permission denied"},
        {19, "reading it failed: no such device"},
        {22, "reading it failed: not a number"},
    };
    for (size_t i = 0; i < sizeof REASONS / sizeof REASONS[0]; i++)
        if (REASONS[i].number == error)
            return REASONS[i].why;
#endif
    return "reading it failed";
}

bool instr_sensor_offer(struct instr_sensor *s)
{
    if (!instr_sensor_wanted(s->name))
        return false;
    if (s->values == 0 || s->values > INSTR_SENSOR_VALUES || s->read == NULL) {
        trouble(s->name, "its driver describes it wrongly");
        return false;
    }
    if (instr_sensor_count == INSTR_CFG_SENSORS) {
        trouble(s->name, "there are too many sensors");
        return false;
    }
    const char *why = s->init != NULL ? s->init(s) : NULL;
    int error = 0;
    if (why == NULL) {
        const uint32_t cost = measure(s, &error);
        if (s->cost_ns == 0)
            s->cost_ns = cost;
        if (error > 0)
            why = reason_of(error);
    }
    if (why != NULL) {
        trouble(s->name, why);
        return false;
    }
    s->number = instr_sensor_count;
    s->state = INSTR_SENSOR_ON;
    instr_sensors[instr_sensor_count++] = s;
    return true;
}

/* Whether anything that was found or is missing answers to the pattern. */
static bool answered(const char *pattern)
{
    for (uint32_t i = 0; i < instr_sensor_count; i++)
        if (instr_selects(pattern, instr_sensors[i]->name))
            return true;
    for (uint32_t i = 0; i < instr_sensor_trouble_count; i++)
        if (instr_selects_below(pattern, instr_sensor_troubles[i].name))
            return true;
    return false;
}

/* Says which patterns of the list select nothing. */
static void report_unanswered(const char *list)
{
    static char kept[4][64]; /* a reason's text must stay */
    unsigned used = 0;
    for (const char *p = list; *p != '\0' && used < 4;) {
        const size_t length = strcspn(p, ", ");
        if (length > 0 && length < sizeof kept[0] && *p != '!') {
            char *pattern = kept[used];
            memcpy(pattern, p, length);
            pattern[length] = '\0';
            if (!answered(pattern)) {
                trouble(pattern, "there is no sensor of this name");
                used++;
            }
        }
        p += length + strspn(p + length, ", ");
    }
}

#if !INSTR_PLATFORM_SMALL
/* A reading at a sample must not take up the period. */
static void skip_slow_ones(void)
{
    for (uint32_t i = 0; i < instr_sensor_count; i++)
        if (instr_sensors[i]->cost_ns > instr_settings.sampling_ns / 10) {
            instr_sensors[i]->skip |= INSTR_AT_SAMPLE;
            trouble(instr_sensors[i]->name, "reading it takes more than a tenth of INSTR_SAMPLING_PERIOD: not read at samples");
        }
}
#endif

/* Whoever takes this file takes these too: the core's own references to them are weak (sensors/optional.h). */
static void (*const describe)(instr_sensor_line *) __attribute__((used)) = instr_sensors_describe;
static void (*const read_settings)(void) __attribute__((used)) = instr_sensors_settings;

uint32_t instr_sensors_begin(void)
{
    const struct instr_settings *settings = &instr_settings;
    sensor_points = counter_points = 0;
    if (settings->sensors != NULL) {
        instr_sensors_discover();
        report_unanswered(settings->sensors);
        if (instr_sensor_count > 0) {
            sensor_points = INSTR_AT_BEGIN_END | settings->sensors_at;
            if (settings->sensors_period_ns != 0)
                sensor_points |= INSTR_AT_PERIOD;
#if !INSTR_PLATFORM_SMALL
            if ((settings->sensors_at & INSTR_AT_SAMPLE) != 0)
                skip_slow_ones();
#endif
        }
    }
    if (settings->counters != NULL && instr_counters_begin())
        counter_points = settings->sensors_at != 0 ? settings->sensors_at : INSTR_AT_REGION | INSTR_AT_IMPLICIT | INSTR_AT_TASK;
    if (counter_points & INSTR_AT_TASK)
        counter_points |= INSTR_AT_TASK_BEGIN;
    return sensor_points | counter_points;
}

/* ---- reading ---- */

static void read_one(struct instr_thread *t, struct instr_sensor *s)
{
    int64_t values[INSTR_SENSOR_VALUES];
    struct instr_slot slot;
    const int error = s->read(s, values);
    if (error < 0) {
        s->missed++;
        return;
    }
    if (error > 0) {
        if (s->state == INSTR_SENSOR_ON) {
            s->state = INSTR_SENSOR_LOST;
            instr_event2(t, INSTR_EV_SENSOR_LOST, s->number, (uint32_t)error);
        }
        return;
    }
    uint32_t *p = instr_open(t, &slot, INSTR_EV_SENSOR, 2 + 2 * (size_t)s->values);
    if (p == NULL)
        return;
    p = instr_put32(instr_put32(p, s->number), s->values);
    for (uint32_t i = 0; i < s->values; i++)
        p = instr_put64(p, (uint64_t)values[i]);
    instr_close(&slot);
}

void instr_sensors_read(struct instr_thread *t, unsigned point)
{
    struct instr_guest guest;
    if ((sensor_points & point) == 0 || instr_is_busy(t->limit) || instr_process.active == INSTR_OFF)
        return; /* not while an event is being written, or nothing is recorded */
    instr_platform_enter(&guest);
    for (uint32_t i = 0; i < instr_sensor_count; i++)
        if (instr_sensors[i]->state == INSTR_SENSOR_ON && (instr_sensors[i]->skip & point) == 0)
            read_one(t, instr_sensors[i]);
    instr_platform_leave(&guest);
}

void instr_at_point(struct instr_thread *t, unsigned point)
{
    if (counter_points & point && !instr_is_busy(t->limit)) {
        struct instr_guest guest;
        instr_platform_enter(&guest);
        instr_counters_read(t);
        instr_platform_leave(&guest);
    }
    if (sensor_points & point)
        instr_sensors_read(t, point);
}

/* ---- beginning and end ---- */

void instr_sensors_started(struct instr_thread *t)
{
    instr_sensors_read(t, INSTR_AT_BEGIN_END);
    if (sensor_points & INSTR_AT_PERIOD && !period_runs) {
        const char *why = instr_sensors_period_begin(instr_settings.sensors_period_ns);
        period_runs = why == NULL;
        if (why != NULL)
            trouble("INSTR_SENSORS_PERIOD", why);
    }
}

void instr_sensors_finish(struct instr_thread *t)
{
    if (period_runs) {
        period_runs = false;
        instr_sensors_period_end();
    }
    if (t != NULL)
        instr_sensors_read(t, INSTR_AT_BEGIN_END);
}

void instr_sensors_forked(void)
{
    period_runs = false; /* threads and timers stay with the parent */
    if (counter_points != 0)
        instr_counters_forked();
}

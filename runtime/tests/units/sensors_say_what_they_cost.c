/* What a driver declares of a sensor's cost is kept, else the shorter of two readings is measured; a sensor that fails is not taken. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "core/settings.h"
#include "platform/platform.h"
#include "sensors/sensors.h"

static int calls;

static int slow(struct instr_sensor *s, int64_t *values)
{
    (void)s;
    const uint64_t until = instr_platform_monotonic_ns() + (calls++ == 0 ? 20000000u : 3000000u); /* the first opens doors for the second */
    while (instr_platform_monotonic_ns() < until)
        ;
    values[0] = 1;
    return 0;
}

static int quick(struct instr_sensor *s, int64_t *values)
{
    (void)s;
    values[0] = 1;
    return 0;
}

static int broken(struct instr_sensor *s, int64_t *values)
{
    (void)s;
    (void)values;
    return EIO;
}

static struct instr_sensor declared = {.name = "unit/declared", .values = 1, .read = quick, .cost_ns = 777};
static struct instr_sensor measured = {.name = "unit/measured", .values = 1, .read = slow};
static struct instr_sensor fast = {.name = "unit/fast", .values = 1, .read = quick};
static struct instr_sensor failing = {.name = "unit/failing", .values = 1, .read = broken};
static struct instr_sensor wrong = {.name = "unit/wrong", .values = INSTR_SENSOR_VALUES + 1, .read = quick};
static struct instr_sensor unasked = {.name = "other/unasked", .values = 1, .read = quick};

int main(void)
{
    const uint32_t before = instr_sensor_count;
    instr_settings.sensors = "unit";
    CHECK(instr_sensor_offer(&declared) && declared.cost_ns == 777);
    CHECK(instr_sensor_offer(&measured) && calls == 2 && measured.cost_ns >= 3000000u);
    CHECK(instr_sensor_offer(&fast) && fast.cost_ns > 0);
    CHECK(!instr_sensor_offer(&failing) && !instr_sensor_offer(&wrong) && !instr_sensor_offer(&unasked));
    CHECK(instr_sensor_count == before + 3);
    CHECK(instr_sensor_trouble_count >= 2);
    CHECK(strstr(instr_sensor_troubles[instr_sensor_trouble_count - 2].why, "input/output error") != NULL);
    instr_settings.sensors = NULL;
    return failures != 0;
}

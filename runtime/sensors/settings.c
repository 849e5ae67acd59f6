/* The settings of sensors and counters. */
#include "core/cold.h"

#include <string.h>

#include "core/config.h"
#include "core/settings.h"
#include "sensors/sensors.h"

/* The read points of a list such as "regions,tasks". */
static bool parse_points(const char *list, uint32_t *points)
{
    static const struct {
        const char *name;
        uint32_t point;
    } NAMES[] = {{"begin-end", INSTR_AT_BEGIN_END},
                 {"regions", INSTR_AT_REGION},
                 {"implicit", INSTR_AT_IMPLICIT},
                 {"tasks", INSTR_AT_TASK},
                 {"samples", INSTR_AT_SAMPLE},
                 {"functions", INSTR_AT_FUNCTION}};
    *points = 0;
    for (const char *p = list; *p != '\0';) {
        const size_t length = strcspn(p, ", ");
        size_t i = 0;
        while (i < sizeof NAMES / sizeof NAMES[0] && (strlen(NAMES[i].name) != length || memcmp(NAMES[i].name, p, length) != 0))
            i++;
        if (i == sizeof NAMES / sizeof NAMES[0])
            return false;
        *points |= NAMES[i].point;
        p += length + strspn(p + length, ", ");
    }
    return true;
}

void instr_sensors_settings(void)
{
    struct instr_settings *const s = &instr_settings;
    s->sensors = instr_setting_text("INSTR_SENSORS");
    s->counters = instr_setting_text("INSTR_COUNTERS");
    s->l4stat = instr_setting_text("INSTR_L4STAT");
    s->sensors_root = instr_setting_text("INSTR_SENSORS_ROOT");
    if (s->sensors_root == NULL)
        s->sensors_root = "";
#if !INSTR_PLATFORM_SMALL
    if (strlen(s->sensors_root) > INSTR_CFG_SENSORS_ROOT) {
        s->sensors = NULL;
        instr_settings_complain(INSTR_WHY("INSTR_SENSORS_ROOT is too long: no sensors are read"));
    }
#endif
    const char *period = instr_setting_text("INSTR_SENSORS_PERIOD");
    if (period != NULL && !instr_parse_time(period, &s->sensors_period_ns)) {
        s->sensors_period_ns = 0;
        instr_settings_complain(INSTR_WHY("INSTR_SENSORS_PERIOD is not a time such as 500us, 10ms or 2s; sensors are not read on a period"));
    } else if (period != NULL && s->sensors_period_ns < INSTR_CFG_MIN_PERIOD_NS) {
        s->sensors_period_ns = INSTR_CFG_MIN_PERIOD_NS;
        instr_settings_complain(INSTR_WHY("INSTR_SENSORS_PERIOD is too short; 100us, the shortest, is used"));
    }
    const char *at = instr_setting_text("INSTR_SENSORS_AT");
    if (at != NULL && !parse_points(at, &s->sensors_at)) {
        s->sensors_at = 0;
        instr_settings_complain(INSTR_WHY("INSTR_SENSORS_AT is not a list of begin-end, regions, implicit, tasks, samples, functions; it is not used"));
    }
}

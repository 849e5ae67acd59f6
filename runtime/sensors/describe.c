/* What the metadata says of sensors (docs/trace-format.md, "Sensors"). */
#include "core/cold.h"

#include "sensors/sensors.h"

#include "core/text.h"

static const char *or_dash(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "-";
}

void instr_sensors_describe(instr_sensor_line *line)
{
    char values[24];
    char wrap[24];
    char cost[24];
    for (uint32_t i = 0; i < instr_sensor_count; i++) {
        const struct instr_sensor *s = instr_sensors[i];
        const char *words[] = {s->name,
                               or_dash(s->unit),
                               s->scale != NULL ? s->scale : "1",
                               instr_decimal(s->values, 1, values),
                               s->kind == INSTR_SENSOR_TOTAL ? "total" : "level",
                               instr_decimal(s->wrap, 1, wrap),
                               instr_decimal(s->cost_ns, 1, cost),
                               or_dash(s->labels),
                               or_dash(s->source)};
        line("sensor_", i, words, sizeof words / sizeof words[0]);
        if (s->missed != 0) {
            const char *missed[] = {instr_decimal(s->missed, 1, values)};
            line("sensor_missed_", i, missed, 1);
        }
    }
    for (uint32_t i = 0; i < instr_sensor_trouble_count; i++) {
        const char *words[] = {instr_sensor_troubles[i].name, instr_sensor_troubles[i].why};
        line("sensor_trouble_", i, words, 2);
    }
    instr_counters_describe(line);
}

/* A file of its own: only sensors and sampling need it, which not every program has (docs/decisions/0013). */
#include "core/cold.h"

#include <string.h>

#include "core/settings.h"

bool instr_parse_time(const char *text, uint64_t *ns)
{
    static const struct {
        char unit[3];
        uint64_t ns;
    } UNITS[] = {{"us", 1000u}, {"ms", 1000000u}, {"s", 1000000000u}};
    uint64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++)
        if ((value = value * 10 + (uint64_t)(*p - '0')) > UINT64_C(86400000000))
            return false;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
        if (p != text && strcmp(p, UNITS[i].unit) == 0) {
            *ns = value * UNITS[i].ns;
            return value != 0 && *ns / UNITS[i].ns == value && *ns <= UINT64_C(86400000000000);
        }
    return false;
}

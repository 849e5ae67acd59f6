/*
 * L4STAT, the LEON4 statistics unit (GR740 User's Manual, chapter 26; LEON3's L3STAT has the same registers): up to sixteen counters of
 * 32 bits, each of which counts one event of one processor or AHB master. INSTR_L4STAT chooses: EVENT@NUMBER, …
 */
#include "core/cold.h"

#include "platform/rtems/sensors.h"

#include <string.h>

#include "core/settings.h"
#include "core/text.h"
#include "platform/rtems/io.h"
#include "sensors/sensors.h"

enum { VALUE = 0x00, CONTROL = 0x80 };
#define CONTROL_ENABLE 0x1000u
#define CONTROL_COUNTERS(word) (((word) >> 23 & 31u) + 1u)
#define CONTROL_OF(event, number) (CONTROL_ENABLE | (uint32_t)(event) << 4 | (uint32_t)(number))

#define NAME_BYTES 20u

/* Names of events; those of 0x60 and on have a number in their name, see `ranges`. */
static const struct event {
    uint8_t id;
    char name[NAME_BYTES - 1];
} EVENTS[] = {
    {0x00, "icache-miss"},     {0x01, "itlb-miss"},         {0x02, "icache-hold"},      {0x03, "immu-hold"},
    {0x08, "dcache-miss"},     {0x09, "dtlb-miss"},         {0x0a, "dcache-hold"},      {0x0b, "dmmu-hold"},
    {0x10, "writebuffer-hold"}, {0x11, "instructions"},     {0x12, "integer-instr"},    {0x13, "float-instr"},
    {0x14, "branch-miss"},     {0x15, "time"},              {0x17, "ahb-utilization"},  {0x18, "ahb-total"},
    {0x22, "branches"},        {0x28, "calls"},             {0x30, "type2-instr"},      {0x38, "loads-stores"},
    {0x39, "loads"},           {0x3a, "stores"},            {0x40, "ahb-idle"},         {0x41, "ahb-busy"},
    {0x42, "ahb-nonseq"},      {0x43, "ahb-seq"},           {0x44, "ahb-read"},         {0x45, "ahb-write"},
    {0x46, "ahb-byte"},        {0x47, "ahb-half"},          {0x48, "ahb-word"},         {0x49, "ahb-double"},
    {0x4a, "ahb-quad"},        {0x4b, "ahb-eight"},         {0x4c, "ahb-wait"},         {0x4d, "ahb-retry"},
    {0x4e, "ahb-split"},       {0x4f, "ahb-split-delay"},   {0x50, "ahb-locked"},
};

/* NAME-N is event first + N. ahb2-NAME is the second bus: ahb-NAME + 0x30. */
static const struct {
    uint8_t first;
    uint8_t count;
    char name[10];
} RANGES[] = {{0x60, 16, "external-"}, {0x80, 16, "grant-"}, {0x90, 16, "no-grant-"}};

static const char DEFAULT[] = "instructions@*,icache-miss@*,dcache-miss@*,ahb-utilization@*";

static struct {
    uintptr_t registers;
    uint32_t count;
    uint32_t control[INSTR_SENSOR_VALUES];
} unit;

static char labels[INSTR_SENSOR_VALUES * (NAME_BYTES + 3)];

static bool parse_number(const char *text, size_t length, unsigned most, unsigned *value)
{
    unsigned base = 10;
    *value = 0;
    if (length > 2 && text[0] == '0' && text[1] == 'x') {
        base = 16;
        text += 2;
        length -= 2;
    }
    if (length == 0 || length > 3)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10u : 99u;
        if (digit >= base)
            return false;
        *value = *value * base + digit;
    }
    return *value <= most;
}

static bool parse_event(const char *name, size_t length, unsigned *id)
{
    for (size_t i = 0; i < sizeof EVENTS / sizeof EVENTS[0]; i++) {
        const char *known = EVENTS[i].name;
        const bool second = EVENTS[i].id >= 0x40 && EVENTS[i].id < 0x50 && length > 5 && memcmp(name, "ahb2-", 5) == 0 &&
                            strlen(known) == length - 1 && memcmp(known + 4, name + 5, length - 5) == 0;
        if (second || (strlen(known) == length && memcmp(known, name, length) == 0)) {
            *id = EVENTS[i].id + (second ? 0x30u : 0u);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++) {
        const size_t prefix = strlen(RANGES[i].name);
        if (length > prefix && memcmp(name, RANGES[i].name, prefix) == 0 &&
            parse_number(name + prefix, length - prefix, RANGES[i].count - 1u, id)) {
            *id += RANGES[i].first;
            return true;
        }
    }
    return length > 2 && name[0] == '0' && name[1] == 'x' && parse_number(name, length, 0xff, id);
}

static bool add(const char *text, size_t name, unsigned event, unsigned number)
{
    if (unit.count == INSTR_SENSOR_VALUES)
        return false;
    char *label = labels + strlen(labels);
    if (unit.count > 0)
        *label++ = ',';
    memcpy(label, text, name);
    label += name;
    *label++ = '@';
    char digits[INSTR_DECIMAL_BYTES];
    strcpy(label, instr_decimal(number, 1, digits));
    unit.control[unit.count++] = CONTROL_OF(event, number);
    return true;
}

/* Takes the list apart; false when something in it makes no sense. NAME@* is processors 0 to 3. */
static bool choose(const char *list)
{
    unit.count = 0;
    labels[0] = '\0';
    for (const char *p = list; *p != '\0';) {
        const size_t length = strcspn(p, ", ");
        const char *at = memchr(p, '@', length);
        const size_t name = at != NULL ? (size_t)(at - p) : length;
        const bool all = at != NULL && length == name + 2 && at[1] == '*';
        unsigned event;
        unsigned number = 0;
        if (length > 0) {
            if (name > NAME_BYTES - 2 || !parse_event(p, name, &event) ||
                (at != NULL && !all && !parse_number(at + 1, length - name - 1, 15, &number)))
                return false;
            do
                if (!add(p, name, event, number))
                    return false;
            while (all && ++number < 4);
        }
        p += length + strspn(p + length, ", ");
    }
    return unit.count > 0;
}

static const char *begin(struct instr_sensor *s)
{
    const uint32_t have = CONTROL_COUNTERS(instr_io_read(unit.registers + CONTROL));
    if (unit.count > have)
        return "the unit has fewer counters than INSTR_L4STAT names";
    for (uint32_t i = 0; i < unit.count; i++) {
        instr_io_write(unit.registers + CONTROL + 4u * i, unit.control[i]);
        instr_io_write(unit.registers + VALUE + 4u * i, 0);
    }
    if ((instr_io_read(unit.registers + CONTROL) & CONTROL_ENABLE) == 0)
        return "its counters cannot be enabled: is its clock gated? (grcg enable, in GRMON)";
    s->values = unit.count;
    return NULL;
}

static int read_counters(struct instr_sensor *s, int64_t *values)
{
    for (uint32_t i = 0; i < s->values; i++)
        values[i] = instr_io_read(unit.registers + VALUE + 4u * i);
    return 0;
}

static struct instr_sensor sensor = {
    .name = "l4stat",
    .labels = labels,
    .source = "L4STAT",
    .kind = INSTR_SENSOR_TOTAL,
    .wrap = UINT64_C(1) << 32,
    .init = begin,
    .read = read_counters,
};

void instr_rtems_l4stat(void)
{
    enum { L4STAT = 0x047, L3STAT = 0x098 };
    if (!instr_sensor_family_wanted("l4stat"))
        return;
    unit.registers = instr_rtems_device(L4STAT);
    if (unit.registers == 0)
        unit.registers = instr_rtems_device(L3STAT);
    if (unit.registers == 0) {
        instr_sensor_missing("l4stat", "there is no statistics unit on the plug&play bus");
        return;
    }
    if (!choose(instr_settings.l4stat != NULL ? instr_settings.l4stat : DEFAULT)) {
        instr_sensor_missing("l4stat", "INSTR_L4STAT is not a list of up to 16 EVENT@NUMBER");
        return;
    }
    sensor.values = unit.count;
    (void)instr_sensor_offer(&sensor);
}

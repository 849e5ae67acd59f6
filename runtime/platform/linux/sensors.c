/* The sensors of Linux: hwmon, thermal zones, processor frequencies, pressure and scheduling statistics. */
#define _GNU_SOURCE

#include "core/cold.h"

#include "sensors/sensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/settings.h"
#include "core/text.h"
#include "platform/linux/energy.h"
#include "platform/linux/files.h"

#define MOST_ENTRIES 512u

/* The number behind `prefix`, if `name` is nothing else. */
static bool numbered(const char *name, const char *prefix, uint64_t *number)
{
    const size_t length = strlen(prefix);
    int64_t value;
    if (strncmp(name, prefix, length) != 0 || name[length] < '0' || name[length] > '9' || strlen(name + length) > 8 ||
        !instr_parse_integer(name + length, &value))
        return false;
    *number = (uint64_t)value;
    return true;
}

/* ---- hwmon ---- */

/* Kinds of hwmon files, Documentation/hwmon/sysfs-interface of the kernel. */
static const struct {
    const char *prefix;
    const char *suffix;
    const char *unit;
    const char *scale;
    uint32_t kind;
} HWMON[] = {
    {"temp", "_input", "degC", "0.001", INSTR_SENSOR_LEVEL},  {"power", "_input", "W", "1e-6", INSTR_SENSOR_LEVEL},
    {"power", "_average", "W", "1e-6", INSTR_SENSOR_LEVEL},   {"energy", "_input", "J", "1e-6", INSTR_SENSOR_TOTAL},
    {"in", "_input", "V", "0.001", INSTR_SENSOR_LEVEL},       {"curr", "_input", "A", "0.001", INSTR_SENSOR_LEVEL},
};
#define HWMON_KINDS (sizeof HWMON / sizeof HWMON[0])

/* kind × 10^9 + number of a file such as temp3_input. */
static bool hwmon_file(const char *name, uint64_t *number)
{
    for (size_t kind = 0; kind < HWMON_KINDS; kind++) {
        char stem[24];
        const size_t length = strlen(name);
        const size_t tail = strlen(HWMON[kind].suffix);
        if (length <= tail || length - tail >= sizeof stem || strcmp(name + length - tail, HWMON[kind].suffix) != 0)
            continue;
        memcpy(stem, name, length - tail);
        stem[length - tail] = '\0';
        if (numbered(stem, HWMON[kind].prefix, number)) {
            *number += (uint64_t)kind * 1000000000u;
            return true;
        }
    }
    return false;
}

static bool hwmon_device(const char *name, uint64_t *number)
{
    return numbered(name, "hwmon", number);
}

/* Instances of one name get "-2", "-3" …: the name of the n-th that was seen before `at`. */
struct seen {
    char names[64][24];
    unsigned count;
};

static void unique(struct seen *seen, char *name, size_t bytes)
{
    char plain[24] = "";
    char digits[INSTR_DECIMAL_BYTES];
    unsigned before = 0;
    strncpy(plain, name, sizeof plain - 1);
    for (unsigned i = 0; i < seen->count; i++)
        before += strcmp(seen->names[i], plain) == 0;
    if (seen->count < 64)
        memcpy(seen->names[seen->count++], plain, sizeof plain);
    if (before > 0) {
        (void)instr_text_append(name, bytes, "-");
        (void)instr_text_append(name, bytes, instr_decimal(before + 1, 1, digits));
    }
}

static void no_slashes(char *name)
{
    for (; *name != '\0'; name++)
        if (*name == '/' || *name == ',')
            *name = '_';
}

/* Whether the driver says that nothing, or something broken, is connected: "1" in tempN_fault beside tempN_input. What it reads is no temperature. */
static bool is_faulty(const struct instr_sensor *s)
{
    static const char INPUT[] = "_input";
    const struct instr_file_sensor *f = (const struct instr_file_sensor *)(const void *)s;
    char stem[INSTR_FILE_PATH];
    char line[8];
    const size_t length = strlen(f->path) - (sizeof INPUT - 1);
    memcpy(stem, f->path, length);
    stem[length] = '\0';
    return instr_file_line(line, sizeof line, INSTR_PIECES(stem + strlen(instr_settings.sensors_root), "_fault")) && line[0] == '1';
}

static const char *open_guarded(struct instr_sensor *s)
{
    return is_faulty(s) ? "its driver reports a fault: nothing is connected, or it is broken" : instr_file_open(s);
}

static int read_guarded(struct instr_sensor *s, int64_t *values)
{
    return is_faulty(s) ? -1 : instr_file_read_integer(s, values);
}

/* One file of the device in `dir` (with INSTR_SENSORS_ROOT), called `device`. */
static void offer_hwmon(const char *dir, const char *device, uint64_t what)
{
    char digits[INSTR_DECIMAL_BYTES];
    const size_t kind = (size_t)(what / 1000000000u);
    const char *number = instr_decimal((uint32_t)(what % 1000000000u), 1, digits);
    struct instr_file_sensor *f = instr_file_next();
    if (f == NULL || !instr_text_append(f->name, sizeof f->name, "hwmon/") || !instr_text_append(f->name, sizeof f->name, device) ||
        !instr_text_append(f->name, sizeof f->name, "/") || !instr_text_append(f->name, sizeof f->name, HWMON[kind].prefix) ||
        !instr_text_append(f->name, sizeof f->name, number))
        return;
    if (strcmp(HWMON[kind].suffix, "_average") == 0 && !instr_text_append(f->name, sizeof f->name, "-average"))
        return;
    const char *const root = instr_settings.sensors_root;
    if (!instr_file_path(f->path, sizeof f->path,
                         INSTR_PIECES(dir + strlen(root), "/", HWMON[kind].prefix, number, HWMON[kind].suffix)))
        return;
    if (instr_file_line(f->labels, sizeof f->labels, INSTR_PIECES(dir + strlen(root), "/", HWMON[kind].prefix, number, "_label")))
        no_slashes(f->labels);
    else
        f->labels[0] = '\0';
    f->sensor.unit = HWMON[kind].unit;
    f->sensor.scale = HWMON[kind].scale;
    f->sensor.kind = HWMON[kind].kind;
    char fault[8];
    if (kind == 0 && instr_file_line(fault, sizeof fault, INSTR_PIECES(dir + strlen(root), "/", HWMON[kind].prefix, number, "_fault"))) {
        f->sensor.init = open_guarded;
        f->sensor.read = read_guarded;
    }
    (void)instr_file_offer(f);
}

static void discover_hwmon(void)
{
    char path[INSTR_FILE_PATH];
    uint64_t devices[64];
    uint64_t files[MOST_ENTRIES];
    struct seen seen = {.count = 0};
    size_t found = 0;
    if (!instr_sensor_family_wanted("hwmon") || !instr_file_path(path, sizeof path, INSTR_PIECES("/sys/class/hwmon")))
        return;
    const size_t count = instr_file_list(path, hwmon_device, devices, 64);
    for (size_t i = 0; i < count; i++) {
        char digits[INSTR_DECIMAL_BYTES];
        char name[32] = "";
        const char *number = instr_decimal((uint32_t)devices[i], 1, digits);
        if (!instr_file_line(name, 20, INSTR_PIECES("/sys/class/hwmon/hwmon", number, "/name")))
            memcpy(name, "unnamed", 8);
        no_slashes(name);
        unique(&seen, name, sizeof name);
        if (!instr_file_path(path, sizeof path, INSTR_PIECES("/sys/class/hwmon/hwmon", number)))
            continue;
        const size_t entries = instr_file_list(path, hwmon_file, files, MOST_ENTRIES);
        for (size_t j = 0; j < entries; j++)
            offer_hwmon(path, name, files[j]);
        found += entries;
    }
    if (found == 0)
        instr_sensor_missing("hwmon", count == 0 ? "no device under /sys/class/hwmon: virtual machines have none, others lack the chip's driver"
                                                 : "the devices under /sys/class/hwmon have no temperature, power, energy, voltage or current");
}

/* ---- thermal zones ---- */

static bool thermal_zone(const char *name, uint64_t *number)
{
    return numbered(name, "thermal_zone", number);
}

static void discover_thermal(void)
{
    char path[INSTR_FILE_PATH];
    uint64_t zones[64];
    struct seen seen = {.count = 0};
    if (!instr_sensor_family_wanted("thermal") || !instr_file_path(path, sizeof path, INSTR_PIECES("/sys/class/thermal")))
        return;
    const size_t count = instr_file_list(path, thermal_zone, zones, 64);
    for (size_t i = 0; i < count; i++) {
        char digits[INSTR_DECIMAL_BYTES];
        char name[32] = "";
        const char *number = instr_decimal((uint32_t)zones[i], 1, digits);
        if (!instr_file_line(name, 20, INSTR_PIECES("/sys/class/thermal/thermal_zone", number, "/type")))
            memcpy(name, "unnamed", 8);
        no_slashes(name);
        unique(&seen, name, sizeof name);
        struct instr_file_sensor *f = instr_file_next();
        if (f == NULL || !instr_text_append(f->name, sizeof f->name, "thermal/") || !instr_text_append(f->name, sizeof f->name, name) ||
            !instr_file_path(f->path, sizeof f->path, INSTR_PIECES("/sys/class/thermal/thermal_zone", number, "/temp")))
            continue;
        f->sensor.unit = "degC";
        f->sensor.scale = "0.001";
        (void)instr_file_offer(f);
    }
    if (count == 0)
        instr_sensor_missing("thermal", "no zone under /sys/class/thermal: virtual machines have none");
}

/* ---- processor frequencies ---- */

static bool processor(const char *name, uint64_t *number)
{
    return numbered(name, "cpu", number);
}

static void discover_cpufreq(void)
{
    char path[INSTR_FILE_PATH];
    uint64_t processors[MOST_ENTRIES];
    bool any = false;
    if (!instr_sensor_family_wanted("cpufreq") || !instr_file_path(path, sizeof path, INSTR_PIECES("/sys/devices/system/cpu")))
        return;
    const size_t count = instr_file_list(path, processor, processors, MOST_ENTRIES);
    for (size_t i = 0; i < count; i++) {
        char digits[INSTR_DECIMAL_BYTES];
        const char *number = instr_decimal((uint32_t)processors[i], 1, digits);
        struct instr_file_sensor *f = instr_file_next();
        if (f == NULL || !instr_text_append(f->name, sizeof f->name, "cpufreq/cpu") || !instr_text_append(f->name, sizeof f->name, number) ||
            !instr_file_path(f->path, sizeof f->path, INSTR_PIECES("/sys/devices/system/cpu/cpu", number, "/cpufreq/scaling_cur_freq")) ||
            access(f->path, F_OK) != 0)
            continue;
        any = true;
        f->sensor.unit = "Hz";
        f->sensor.scale = "1000";
        (void)instr_file_offer(f);
    }
    if (!any)
        instr_sensor_missing("cpufreq", "no processor has a cpufreq/scaling_cur_freq: virtual machines have none, others no cpufreq driver");
}

/* ---- pressure stall information ---- */

/* Microseconds behind "total=" of the lines "some …" and "full …" (Documentation/accounting/psi.rst of the kernel). */
static int read_pressure(struct instr_sensor *s, int64_t *values)
{
    char text[256];
    const int error = instr_file_text((struct instr_file_sensor *)(void *)s, text, sizeof text);
    if (error != 0)
        return error;
    const char *at = text;
    for (uint32_t i = 0; i < s->values; i++) {
        at = strstr(at, "total=");
        if (at == NULL || !instr_parse_integer(at + 6, &values[i]))
            return EINVAL;
        at += 6;
    }
    return 0;
}

static void discover_pressure(void)
{
    static const char *const RESOURCES[] = {"cpu", "memory", "io"};
    bool any = false;
    if (!instr_sensor_family_wanted("psi"))
        return;
    for (size_t i = 0; i < sizeof RESOURCES / sizeof RESOURCES[0]; i++) {
        struct instr_file_sensor *f = instr_file_next();
        char text[256];
        if (f == NULL || !instr_text_append(f->name, sizeof f->name, "psi/") || !instr_text_append(f->name, sizeof f->name, RESOURCES[i]) ||
            !instr_file_path(f->path, sizeof f->path, INSTR_PIECES("/proc/pressure/", RESOURCES[i])) || instr_file_open(&f->sensor) != NULL)
            continue;
        const bool readable = instr_file_text(f, text, sizeof text) == 0;
        close(f->sensor.handle);
        f->sensor.handle = -1;
        if (!readable)
            continue; /* CONFIG_PSI_DEFAULT_DISABLED: it opens, but there is nothing */
        any = true;
        const bool has_full = strstr(text, "full ") != NULL;
        f->sensor.values = has_full ? 2 : 1;
        (void)instr_text_append(f->labels, sizeof f->labels, has_full ? "some,full" : "some");
        f->sensor.unit = "s";
        f->sensor.scale = "1e-6";
        f->sensor.kind = INSTR_SENSOR_TOTAL;
        f->sensor.read = read_pressure;
        (void)instr_file_offer(f);
    }
    if (!any)
        instr_sensor_missing("psi", "/proc/pressure cannot be read: the kernel needs CONFIG_PSI, and psi=1 where it is off by default");
}

/* ---- scheduling statistics of the initial thread ---- */

static int read_schedstat(struct instr_sensor *s, int64_t *values)
{
    char text[96];
    const int error = instr_file_text((struct instr_file_sensor *)(void *)s, text, sizeof text);
    if (error != 0)
        return error;
    const char *at = text;
    for (uint32_t i = 0; i < s->values; i++) {
        if (!instr_parse_integer(at, &values[i]))
            return EINVAL;
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return 0;
}

static void discover_schedstat(void)
{
    struct instr_file_sensor *f;
    if (!instr_sensor_family_wanted("schedstat") || (f = instr_file_next()) == NULL)
        return;
    (void)instr_text_append(f->name, sizeof f->name, "schedstat/main");
    if (!instr_file_path(f->path, sizeof f->path, INSTR_PIECES("/proc/self/schedstat")))
        return;
    f->sensor.values = 2;
    (void)instr_text_append(f->labels, sizeof f->labels, "run,wait");
    f->sensor.unit = "s";
    f->sensor.scale = "1e-9";
    f->sensor.kind = INSTR_SENSOR_TOTAL;
    f->sensor.read = read_schedstat;
    (void)instr_file_offer(f);
}

void instr_sensors_discover(void)
{
    discover_hwmon();
    discover_thermal();
    instr_discover_powercap();
    instr_discover_perf_energy();
    discover_cpufreq();
    discover_pressure();
    discover_schedstat();
    instr_discover_dcmi();
}

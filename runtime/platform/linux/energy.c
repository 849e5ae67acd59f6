#define _GNU_SOURCE

#include "core/cold.h"

#include "platform/linux/energy.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/settings.h"
#include "core/text.h"
#include "platform/linux/files.h"
#include "platform/linux/perf.h"

#define MOST_ZONES 64u

/* ---- powercap ---- */

/*
 * Zones of one control type are called TYPE:N, those inside TYPE:N:M, and so on; all of them are listed in /sys/class/powercap. The
 * type of Intel's and AMD's processors is "intel-rapl".
 */
static const char *const TYPES[][2] = {{"intel-rapl", "rapl"}, {"intel-rapl-mmio", "rapl-mmio"}, {"amd-rapl", "rapl-amd"}, {"arm-scmi", "scmi"}, {"dtpm", "dtpm"}};
static const char *type_prefix;

/* (N + 1) × 10^8 + (M + 1) × 10^4 + (L + 1) of "TYPE:N:M:L": parents before their children. */
static bool zone_number(const char *name, uint64_t *number)
{
    static const uint64_t UNIT[] = {100000000u, 10000u, 1u};
    const size_t length = strlen(type_prefix);
    if (strncmp(name, type_prefix, length) != 0 || name[length] != ':')
        return false;
    const char *p = name + length;
    uint64_t sum = 0;
    for (unsigned level = 0; *p == ':'; level++) {
        char *end;
        const unsigned long value = strtoul(p + 1, &end, 10);
        if (level == 3 || end == p + 1 || end > p + 4 || value > 998)
            return false;
        sum += (value + 1) * UNIT[level];
        p = end;
    }
    *number = sum;
    return *p == '\0';
}

/* The number of zones before `entry` with the same name and the same zone around them; `entry` without its last number `own`. */
static unsigned namesakes(const char *entry, unsigned own, const char *name)
{
    unsigned found = 0;
    for (unsigned i = 0; i < own; i++) {
        char digits[INSTR_DECIMAL_BYTES];
        char other[24];
        if (instr_file_line(other, sizeof other, INSTR_PIECES("/sys/class/powercap/", entry, instr_decimal(i, 1, digits), "/name")))
            found += strcmp(other, name) == 0;
    }
    return found;
}

/* The zone's directory, and its name below `family`: that of each zone around it, then its own; "-2" behind it where that is taken. */
static bool zone_names(uint64_t zone, const char *family, char *path, size_t path_bytes, char *name, size_t name_bytes)
{
    const uint64_t parts[3] = {zone / 100000000u, zone / 10000u % 10000u, zone % 10000u};
    char entry[48] = "";
    name[0] = '\0';
    (void)instr_text_append(entry, sizeof entry, type_prefix);
    if (!instr_text_append(name, name_bytes, family))
        return false;
    for (unsigned level = 0; level < 3 && parts[level] != 0; level++) {
        char digits[INSTR_DECIMAL_BYTES];
        char own[24];
        const unsigned number = (unsigned)parts[level] - 1;
        (void)instr_text_append(entry, sizeof entry, ":");
        const size_t stem = strlen(entry);
        (void)instr_text_append(entry, sizeof entry, instr_decimal(number, 1, digits));
        if (!instr_file_line(own, sizeof own, INSTR_PIECES("/sys/class/powercap/", entry, "/name")))
            return false;
        entry[stem] = '\0';
        const unsigned before = namesakes(entry, number, own);
        (void)instr_text_append(entry, sizeof entry, instr_decimal(number, 1, digits));
        for (char *c = own; *c != '\0'; c++)
            if (*c == '/')
                *c = '_';
        if (!instr_text_append(name, name_bytes, "/") || !instr_text_append(name, name_bytes, own))
            return false;
        if (before > 0 && (!instr_text_append(name, name_bytes, "-") || !instr_text_append(name, name_bytes, instr_decimal(before + 1, 1, digits))))
            return false;
    }
    return instr_file_path(path, path_bytes, INSTR_PIECES("/sys/class/powercap/", entry, "/energy_uj"));
}

static const char *open_energy(struct instr_sensor *s)
{
    const char *why = instr_file_open(s);
    return why != NULL && errno == EACCES
               ? "permission denied: energy_uj is readable by root only since CVE-2020-8694 (instr doctor says how to allow it)"
               : why;
}

static void offer_zone(uint64_t zone, const char *family)
{
    char range[32];
    int64_t wrap;
    struct instr_file_sensor *f = instr_file_next();
    if (f == NULL || !zone_names(zone, family, f->path, sizeof f->path, f->name, sizeof f->name))
        return;
    f->sensor.unit = "J";
    f->sensor.scale = "1e-6";
    f->sensor.kind = INSTR_SENSOR_TOTAL;
    f->sensor.init = open_energy;
    char *const last = strrchr(f->path, '/');
    *last = '\0';
    if (instr_file_line(range, sizeof range, INSTR_PIECES(f->path + strlen(instr_settings.sensors_root), "/max_energy_range_uj")) &&
        instr_parse_integer(range, &wrap) && wrap > 0)
        f->sensor.wrap = (uint64_t)wrap;
    *last = '/';
    if (access(f->path, F_OK) == 0) /* a zone may only limit, and not measure */
        (void)instr_file_offer(f);
}

void instr_discover_powercap(void)
{
    char path[INSTR_FILE_PATH];
    uint64_t zones[MOST_ZONES];
    size_t found = 0;
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (!instr_sensor_family_wanted(TYPES[i][1]) || !instr_file_path(path, sizeof path, INSTR_PIECES("/sys/class/powercap")))
            continue;
        type_prefix = TYPES[i][0];
        const size_t count = instr_file_list(path, zone_number, zones, MOST_ZONES);
        for (size_t j = 0; j < count; j++)
            offer_zone(zones[j], TYPES[i][1]);
        found += count;
    }
    if (found == 0)
        instr_sensor_missing("rapl", "no zone under /sys/class/powercap: not a processor with RAPL, a virtual machine, or the intel_rapl_msr "
                                     "module is not loaded");
}

/* ---- perf power/energy-* ---- */

static const char *const DOMAINS[] = {"pkg", "cores", "gpu", "ram", "psys", "core"};

static const char *open_event(struct instr_sensor *s)
{
    return s->handle >= 0 ? NULL : instr_perf_reason((int)s->place);
}

static int read_event(struct instr_sensor *s, int64_t *values)
{
    struct instr_file_sensor *f = (struct instr_file_sensor *)(void *)s;
    uint64_t id = 0;
    uint64_t value = 0;
    /* The program may have closed the descriptor, and opened something else that a read would take from. */
    if (ioctl(s->handle, PERF_EVENT_IOC_ID, &id) != 0 || id != f->inode)
        return EBADF;
    if (read(s->handle, &value, sizeof value) != (ssize_t)sizeof value)
        return errno != 0 ? errno : EIO;
    values[0] = (int64_t)value;
    return 0;
}

/* The event on one processor of each package (`cpu`). */
static void offer_event(const char *domain, uint32_t type, uint64_t config, const char *scale, int cpu)
{
    char digits[INSTR_DECIMAL_BYTES];
    struct perf_event_attr attr;
    struct instr_file_sensor *f = instr_file_next();
    if (f == NULL || !instr_text_append(f->name, sizeof f->name, "perf-energy/") || !instr_text_append(f->name, sizeof f->name, domain) ||
        !instr_text_append(f->name, sizeof f->name, "/cpu") || !instr_text_append(f->name, sizeof f->name, instr_decimal((uint32_t)cpu, 1, digits)) ||
        !instr_text_append(f->scale, sizeof f->scale, scale) ||
        !instr_file_path(f->path, sizeof f->path, INSTR_PIECES("/sys/bus/event_source/devices/power/events/energy-", domain)))
        return;
    if (!instr_sensor_wanted(f->name))
        return;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    const int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    f->sensor.place = fd < 0 ? (uintptr_t)errno : 0;
    f->sensor.handle = instr_high_descriptor(fd);
    if (fd >= 0 && ioctl(f->sensor.handle, PERF_EVENT_IOC_ID, &f->inode) != 0)
        f->inode = 0;
    f->sensor.unit = "J";
    f->sensor.kind = INSTR_SENSOR_TOTAL;
    f->sensor.init = open_event;
    f->sensor.read = read_event;
    (void)instr_file_offer(f);
}

void instr_discover_perf_energy(void)
{
    char line[64];
    char cpus[64];
    int64_t type;
    bool any = false;
    if (!instr_sensor_family_wanted("perf-energy"))
        return;
    if (!instr_file_line(line, sizeof line, INSTR_PIECES("/sys/bus/event_source/devices/power/type")) || !instr_parse_integer(line, &type) ||
        type < 0 || type > INT32_MAX) {
        instr_sensor_missing("perf-energy", "perf has no power events here: not a processor with RAPL, or a virtual machine");
        return;
    }
    if (!instr_file_line(cpus, sizeof cpus, INSTR_PIECES("/sys/bus/event_source/devices/power/cpumask")))
        memcpy(cpus, "0", 2);
    for (size_t i = 0; i < sizeof DOMAINS / sizeof DOMAINS[0]; i++) {
        char event[48];
        char scale[INSTR_FILE_TEXT];
        if (!instr_file_line(event, sizeof event, INSTR_PIECES("/sys/bus/event_source/devices/power/events/energy-", DOMAINS[i])) ||
            strncmp(event, "event=", 6) != 0)
            continue;
        if (!instr_file_line(scale, sizeof scale, INSTR_PIECES("/sys/bus/event_source/devices/power/events/energy-", DOMAINS[i], ".scale")))
            memcpy(scale, "1", 2);
        const uint64_t config = strtoull(event + 6, NULL, 0);
        for (const char *p = cpus; *p >= '0' && *p <= '9';) { /* "0,28": one of each package */
            char *end;
            const long cpu = strtol(p, &end, 10);
            if (cpu >= 0 && cpu < 65536)
                offer_event(DOMAINS[i], (uint32_t)type, config, scale, (int)cpu);
            any = true;
            p = *end == ',' ? end + 1 : "";
        }
    }
    if (!any)
        instr_sensor_missing("perf-energy", "the power events of perf are not described in /sys");
}

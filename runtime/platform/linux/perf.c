#define _GNU_SOURCE

#include "core/cold.h"

#include "platform/linux/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/linux/files.h"

static const char UNKNOWN[] = "there is no event of this name";

struct event {
    const char *name;
    uint32_t type;
    uint32_t config;
};

/* The events that perf knows on every machine (`perf list hw sw`). */
static const struct event EVENTS[] = {
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
};

static const char *const CACHES[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const OPERATIONS[][2] = {{"-loads", "-load-misses"}, {"-stores", "-store-misses"}, {"-prefetches", "-prefetch-misses"}};

static bool is(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* "L1-dcache-load-misses" and the like: perf_event_open(2), PERF_TYPE_HW_CACHE. */
static bool cache_event(const char *text, size_t length, struct perf_event_attr *attr)
{
    for (unsigned cache = 0; cache < sizeof CACHES / sizeof CACHES[0]; cache++) {
        const size_t prefix = strlen(CACHES[cache]);
        if (length <= prefix || memcmp(text, CACHES[cache], prefix) != 0)
            continue;
        for (unsigned operation = 0; operation < 3; operation++)
            for (unsigned miss = 0; miss < 2; miss++)
                if (is(text + prefix, length - prefix, OPERATIONS[operation][miss])) {
                    attr->type = PERF_TYPE_HW_CACHE;
                    attr->config = cache | operation << 8 | miss << 16;
                    return true;
                }
    }
    return false;
}

/* "r" and hexadecimal digits: a raw event of the processor. */
static bool raw_event(const char *text, size_t length, struct perf_event_attr *attr)
{
    char digits[20];
    char *end;
    if (length < 2 || length >= sizeof digits || text[0] != 'r')
        return false;
    memcpy(digits, text + 1, length - 1);
    digits[length - 1] = '\0';
    if (strspn(digits, "0123456789abcdefABCDEF") != length - 1)
        return false;
    attr->type = PERF_TYPE_RAW;
    attr->config = strtoull(digits, &end, 16);
    return true;
}

/* Puts the bits of `value` where the format of the unit says, such as "config:0-7,32-35". */
static bool place_bits(const char *format, uint64_t value, struct perf_event_attr *attr)
{
    __u64 *field;
    if (strncmp(format, "config:", 7) == 0)
        field = &attr->config;
    else if (strncmp(format, "config1:", 8) == 0)
        field = &attr->config1;
    else if (strncmp(format, "config2:", 8) == 0)
        field = &attr->config2;
    else
        return false;
    for (const char *p = strchr(format, ':') + 1; *p >= '0' && *p <= '9';) {
        char *end;
        const unsigned long low = strtoul(p, &end, 10);
        const unsigned long high = *end == '-' ? strtoul(end + 1, &end, 10) : low;
        if (low > high || high > 63)
            return false;
        const unsigned bits = (unsigned)(high - low + 1);
        const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        *field |= (value & mask) << low;
        value = bits == 64 ? 0 : value >> bits;
        p = *end == ',' ? end + 1 : "";
    }
    return value == 0;
}

/* The terms "event=0x3c,umask=1,edge" of the unit `unit`. One that is no field of its format is an event that the unit has a name for. */
static bool terms(const char *unit, const char *text, size_t length, struct perf_event_attr *attr, bool inner)
{
    const char *const stop = text + length;
    while (text < stop) {
        char name[48];
        char line[96];
        uint64_t value = 1;
        size_t size = 0;
        while (text + size < stop && text[size] != ',')
            size++;
        const char *equals = memchr(text, '=', size);
        const size_t named = equals != NULL ? (size_t)(equals - text) : size;
        if (named == 0 || named >= sizeof name || memchr(text, '/', named) != NULL)
            return false;
        memcpy(name, text, named);
        name[named] = '\0';
        if (equals != NULL) {
            char *end;
            value = strtoull(equals + 1, &end, 0);
            if (end == equals + 1 || end != text + size)
                return false;
        }
        if (strcmp(name, "config") == 0)
            attr->config |= value;
        else if (strcmp(name, "config1") == 0)
            attr->config1 |= value;
        else if (strcmp(name, "config2") == 0)
            attr->config2 |= value;
        else if (instr_file_line(line, sizeof line, INSTR_PIECES("/sys/bus/event_source/devices/", unit, "/format/", name))) {
            if (!place_bits(line, value, attr))
                return false;
        } else if (inner || equals != NULL ||
                   !instr_file_line(line, sizeof line, INSTR_PIECES("/sys/bus/event_source/devices/", unit, "/events/", name)) ||
                   !terms(unit, line, strlen(line), attr, true)) {
            return false;
        }
        text += size + (text + size < stop ? 1 : 0);
    }
    return true;
}

/* "UNIT/TERMS/": an event of a unit under /sys/bus/event_source/devices. */
static const char *unit_event(const char *text, size_t length, struct perf_event_attr *attr)
{
    char unit[32];
    char line[32];
    int64_t type;
    const char *slash = memchr(text, '/', length);
    const size_t named = (size_t)(slash - text);
    if (named == 0 || named >= sizeof unit || length < named + 2)
        return UNKNOWN;
    if (text[length - 1] != '/')
        return "its terms do not end with '/', or its modifier is not one of u and k";
    memcpy(unit, text, named);
    unit[named] = '\0';
    if (!instr_file_line(line, sizeof line, INSTR_PIECES("/sys/bus/event_source/devices/", unit, "/type")) ||
        !instr_parse_integer(line, &type) || type < 0 || type > INT32_MAX)
        return "there is no unit of this name in /sys/bus/event_source/devices";
    if (instr_file_line(line, sizeof line, INSTR_PIECES("/sys/bus/event_source/devices/", unit, "/cpumask")))
        return "this unit counts for whole processors, not for threads";
    attr->type = (uint32_t)type;
    return terms(unit, slash + 1, length - named - 2, attr, false) ? NULL : "its unit has no such term or event (format/ and events/ in /sys/bus/event_source/devices)";
}

/* "SUBSYSTEM:NAME": a tracepoint of the kernel. */
static const char *tracepoint(const char *text, size_t length, struct perf_event_attr *attr)
{
    static const char *const ROOTS[] = {"/sys/kernel/tracing/events/", "/sys/kernel/debug/tracing/events/"};
    char name[96];
    char line[24];
    int64_t id;
    if (length >= sizeof name || memchr(text, '/', length) != NULL || memchr(text, '.', length) != NULL)
        return UNKNOWN;
    memcpy(name, text, length);
    name[length] = '\0';
    *strchr(name, ':') = '/';
    for (size_t i = 0; i < 2; i++)
        if (instr_file_line(line, sizeof line, INSTR_PIECES(ROOTS[i], name, "/id")) && instr_parse_integer(line, &id) && id >= 0) {
            attr->type = PERF_TYPE_TRACEPOINT;
            attr->config = (uint64_t)id;
            return NULL;
        }
    return "no tracepoint of this name can be read: /sys/kernel/tracing must be mounted, as a rule only root may read it";
}

/* Takes the modifiers ":u", ":k" or "/u" off the end: user code, or the kernel, only. */
static size_t modifiers(const char *text, size_t length, struct perf_event_attr *attr)
{
    bool user = false;
    bool kernel = false;
    size_t size = length;
    while (size > 0 && (text[size - 1] == 'u' || text[size - 1] == 'k')) {
        user |= text[size - 1] == 'u';
        kernel |= text[size - 1] == 'k';
        size--;
    }
    if (size == length || size < 2 || (text[size - 1] != ':' && text[size - 1] != '/'))
        return length;
    attr->exclude_kernel = !kernel;
    attr->exclude_user = !user;
    return text[size - 1] == ':' ? size - 1 : size;
}

static bool plain_event(const char *text, size_t length, struct perf_event_attr *attr)
{
    for (size_t i = 0; i < sizeof EVENTS / sizeof EVENTS[0]; i++)
        if (is(text, length, EVENTS[i].name)) {
            attr->type = EVENTS[i].type;
            attr->config = EVENTS[i].config;
            return true;
        }
    return cache_event(text, length, attr) || raw_event(text, length, attr);
}

const char *instr_perf_parse(const char *text, size_t length, struct perf_event_attr *attr)
{
    if (length == 0)
        return UNKNOWN;
    length = modifiers(text, length, attr);
    if (plain_event(text, length, attr))
        return NULL;
    if (memchr(text, '/', length) != NULL)
        return unit_event(text, length, attr);
    const char *colon = memchr(text, ':', length);
    if (colon == NULL)
        return UNKNOWN;
    struct perf_event_attr without = *attr;
    return plain_event(text, (size_t)(colon - text), &without) ? "its modifier is not one of u and k" : tracepoint(text, length, attr);
}

uint64_t instr_perf_scaled(uint64_t value, uint64_t enabled, uint64_t running)
{
    if (running == 0 || enabled <= running)
        return value;
    const double more = (double)(value % running) * ((double)enabled / (double)running);
    return value / running * enabled + (uint64_t)(more + 0.5);
}

const char *instr_perf_reason(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "not permitted (kernel.perf_event_paranoid, see instr doctor)";
    case ENOENT:
    case EOPNOTSUPP:
        return "this machine does not count it (virtual machines often have no hardware counters)";
    case ENODEV:
        return "there is no such counter on this processor";
    case EINVAL:
        return "the kernel does not take it as it is";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    case ENOSYS:
        return "the kernel has no perf_event_open";
    default:
        return "perf_event_open failed";
    }
}

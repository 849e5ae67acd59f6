#include "core/cold.h"

#include "core/settings.h"

#include <string.h>

#include "arch/arch.h"
#include "core/config.h"
#include "core/stack.h"
#include "platform/platform.h"
#include "sampling/sampling.h"
#include "sensors/optional.h"
#include "sinks/sink.h"

struct instr_settings instr_settings = {.enabled = true, .memory = true};

const char *instr_policy_name(enum instr_policy policy)
{
    return policy == INSTR_POLICY_STREAM ? "stream" : policy == INSTR_POLICY_END ? "end" : "ring";
}

bool instr_parse_size(const char *text, uint64_t *bytes)
{
    uint64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value > UINT64_MAX / 10 - 1)
            return false;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    if (p == text)
        return false;
    unsigned shift = 0;
    if (*p == 'K' || *p == 'k')
        shift = 10;
    else if (*p == 'M' || *p == 'm')
        shift = 20;
    else if (*p == 'G' || *p == 'g')
        shift = 30;
    if (shift != 0)
        p++;
    if (*p != '\0' || value > UINT64_MAX >> shift)
        return false;
    *bytes = value << shift;
    return true;
}

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

static void set_switch(const char *name, const char *trouble, bool *flag)
{
    const char *text = instr_platform_getenv(name);
    if (text == NULL || text[0] == '\0')
        return;
    if (strcmp(text, "0") == 0)
        *flag = false;
    else if (strcmp(text, "1") == 0)
        *flag = true;
    else if (instr_settings.trouble == NULL)
        instr_settings.trouble = trouble;
}

#if INSTR_PLATFORM_SMALL
#define DEFAULT_POLICY INSTR_POLICY_END
#define DEFAULT_SINK INSTR_SINK_RAM
#define DEFAULT_WRITE INSTR_CFG_SMALL_WRITE
#define DEFAULT_BYTES(policy) INSTR_CFG_SMALL_BYTES
#else
#define DEFAULT_POLICY INSTR_POLICY_STREAM
#define DEFAULT_SINK INSTR_SINK_FILE
#define DEFAULT_WRITE 0
#define DEFAULT_BYTES(policy)                               \
    ((policy) == INSTR_POLICY_STREAM ? INSTR_CFG_STREAM_BYTES \
     : (policy) == INSTR_POLICY_END  ? INSTR_CFG_END_BYTES    \
                                     : INSTR_CFG_RING_BYTES)
#endif

static void set_policy(struct instr_settings *s)
{
    const char *text = instr_platform_getenv("INSTR_POLICY");
    s->policy = DEFAULT_POLICY;
    if (text == NULL || text[0] == '\0')
        return;
    if (strcmp(text, "stream") == 0)
        s->policy = INSTR_POLICY_STREAM;
    else if (strcmp(text, "end") == 0)
        s->policy = INSTR_POLICY_END;
    else if (strcmp(text, "ring") == 0)
        s->policy = INSTR_POLICY_RING;
    else if (s->trouble == NULL)
        s->trouble = INSTR_WHY("INSTR_POLICY is not stream, end or ring; the default is used");
}

static void set_buffer(struct instr_settings *s)
{
    uint64_t bytes = DEFAULT_BYTES(s->policy);
    const char *text = instr_platform_getenv("INSTR_BUFFER");
    if (text != NULL && text[0] != '\0') {
        uint64_t wanted;
        if (!instr_parse_size(text, &wanted)) {
            if (s->trouble == NULL)
                s->trouble = INSTR_WHY("INSTR_BUFFER is not a size such as 65536, 256K or 4M; the default is used");
        } else if (wanted < INSTR_CFG_MIN_BYTES) {
            bytes = INSTR_CFG_MIN_BYTES;
            if (s->trouble == NULL)
                s->trouble = INSTR_WHY("INSTR_BUFFER is too small; the smallest size, 4096 bytes, is used");
        } else {
            bytes = wanted < INSTR_CFG_MAX_BYTES ? wanted : INSTR_CFG_MAX_BYTES;
        }
    }
    s->slots = 1;
    if (s->policy == INSTR_POLICY_RING) {
        s->slots = INSTR_CFG_RING_SLOTS;
        while (s->slots > 2 && bytes / s->slots < INSTR_CFG_MIN_BYTES / 2)
            s->slots /= 2;
    }
    const uint64_t unit = 8u * s->slots;
    s->buffer = (uint32_t)(bytes / unit * unit);
}

/* A text that is not empty, or NULL. */
static const char *text_of(const char *name)
{
    const char *text = instr_platform_getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* The read points of a list such as "regions,tasks". */
static bool parse_points(const char *list, uint32_t *points)
{
    static const struct {
        const char *name;
        uint32_t point;
    } NAMES[] = {{"begin-end", INSTR_AT_BEGIN_END}, {"regions", INSTR_AT_REGION}, {"implicit", INSTR_AT_IMPLICIT}, {"tasks", INSTR_AT_TASK},
#if !INSTR_PLATFORM_SMALL
               {"samples", INSTR_AT_SAMPLE},
#endif
    };
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

static void set_sensors(struct instr_settings *s)
{
    s->sensors = text_of("INSTR_SENSORS");
    s->counters = text_of("INSTR_COUNTERS");
    s->l4stat = text_of("INSTR_L4STAT");
    s->sensors_root = text_of("INSTR_SENSORS_ROOT");
    if (s->sensors_root == NULL)
        s->sensors_root = "";
    const char *period = text_of("INSTR_SENSORS_PERIOD");
    if (period != NULL && !instr_parse_time(period, &s->sensors_period_ns)) {
        s->sensors_period_ns = 0;
        if (s->trouble == NULL)
            s->trouble = INSTR_WHY("INSTR_SENSORS_PERIOD is not a time such as 500us, 10ms or 2s; sensors are not read on a period");
    } else if (period != NULL && s->sensors_period_ns < INSTR_CFG_MIN_PERIOD_NS) {
        s->sensors_period_ns = INSTR_CFG_MIN_PERIOD_NS;
        if (s->trouble == NULL)
            s->trouble = INSTR_WHY("INSTR_SENSORS_PERIOD is too short; 100us, the shortest, is used");
    }
    const char *at = text_of("INSTR_SENSORS_AT");
    if (at != NULL && !parse_points(at, &s->sensors_at)) {
        s->sensors_at = 0;
        if (s->trouble == NULL)
            s->trouble = INSTR_WHY("INSTR_SENSORS_AT is not a list of begin-end, regions, implicit, tasks, samples; it is not used");
    }
}

#if !INSTR_PLATFORM_SMALL
/* What is asked for and was left out of a static program. */
static void look_for_missing(struct instr_settings *s)
{
    const bool sensors = s->sensors != NULL || s->counters != NULL;
    if (!INSTR_SENSORS_LINKED && sensors && s->trouble == NULL)
        s->trouble = "the program is static and was linked without sensors and counters: instr-cc --instr-config=FILE takes them in";
}
#endif

static void set_sink(struct instr_settings *s)
{
    static const char *const NAMES[] = {"file", "console", "ram", "own"};
    const char *text = instr_platform_getenv("INSTR_SINK");
    unsigned kind = 0;
    s->sink = DEFAULT_SINK;
    if (text != NULL && text[0] != '\0') {
        while (kind < sizeof NAMES / sizeof NAMES[0] && strcmp(text, NAMES[kind]) != 0)
            kind++;
        if (kind < sizeof NAMES / sizeof NAMES[0])
            s->sink = (enum instr_sink_kind)kind;
        else if (s->trouble == NULL)
            s->trouble = INSTR_WHY("INSTR_SINK is not file, console, ram or own; the default is used");
    }
    if (!instr_sink_has(s->sink)) {
        if (s->trouble == NULL)
            s->trouble = INSTR_WHY("the program was linked without the sink of INSTR_SINK; the one it has is used");
        s->sink = DEFAULT_SINK;
        for (kind = 0; kind < sizeof NAMES / sizeof NAMES[0] && !instr_sink_has(s->sink); kind++)
            s->sink = (enum instr_sink_kind)kind;
    }
    if (s->sink == INSTR_SINK_RAM && s->policy == INSTR_POLICY_STREAM)
        s->policy = INSTR_POLICY_END; /* there is nowhere to stream to */
}

static void set_write_max(struct instr_settings *s)
{
    const char *text = instr_platform_getenv("INSTR_WRITE_MAX");
    uint64_t bytes;
    s->write_max = DEFAULT_WRITE;
    if (text == NULL || text[0] == '\0')
        return;
    if (instr_parse_size(text, &bytes) && bytes <= 0x40000000u)
        s->write_max = (uint32_t)bytes;
    else if (s->trouble == NULL)
        s->trouble = INSTR_WHY("INSTR_WRITE_MAX is not a size such as 8192 or 64K; the default is used");
}

void instr_settings_read(void)
{
    struct instr_settings *s = &instr_settings;
    s->trouble = NULL;
    set_switch("INSTR_ENABLED", INSTR_WHY("INSTR_ENABLED is not 0 or 1; 1 is used"), &s->enabled);
    s->switches = true;
    set_switch("INSTR_SWITCHES", INSTR_WHY("INSTR_SWITCHES is not 0 or 1; 1 is used"), &s->switches);
    set_switch("INSTR_VERBOSE", INSTR_WHY("INSTR_VERBOSE is not 0 or 1; 0 is used"), &s->verbose);
    set_switch("INSTR_MEMORY", INSTR_WHY("INSTR_MEMORY is not 0 or 1; 1 is used"), &s->memory);
    if (INSTR_HAS_STACK)
        set_switch("INSTR_STACK", INSTR_WHY("INSTR_STACK is not 0 or 1; 0 is used"), &s->stack);
    set_policy(s);
    set_sink(s);
    set_buffer(s);
    set_write_max(s);
    if (INSTR_HAS_SAMPLING)
        instr_sampling_settings();
    set_sensors(s);
#if !INSTR_PLATFORM_SMALL
    look_for_missing(s);
#endif
    const char *trace = instr_platform_getenv("INSTR_TRACE");
    s->trace = trace != NULL && trace[0] != '\0' ? trace : NULL;
}

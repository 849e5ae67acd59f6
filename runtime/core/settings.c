#include "core/cold.h"

#include "core/settings.h"

#include <string.h>

#include "arch/arch.h"
#include "core/config.h"
#include "core/stack.h"
#include "core/text.h"
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

#if INSTR_KEEPS_RUNS
static char complaints[1024];
#endif

void instr_settings_complain(const char *why)
{
#if INSTR_KEEPS_RUNS
    if (strstr(complaints, why) != NULL) /* settings are read more than once */
        return;
    if (complaints[0] != '\0' && !instr_text_append(complaints, sizeof complaints, " | "))
        return;
    if (instr_text_append(complaints, sizeof complaints, why))
        instr_settings.trouble = complaints;
#else
    if (instr_settings.trouble == NULL)
        instr_settings.trouble = why;
#endif
}

const char *instr_setting_text(const char *name)
{
    const char *text = instr_platform_getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* The value of `name` is wrong; `why` is the rest of the sentence, one text for all settings of a kind. */
static void refuse(const char *name, const char *why)
{
#if INSTR_PLATFORM_SMALL
    (void)name, (void)why;
    instr_settings_complain(INSTR_WHY(""));
#else
    static char text[128];
    if (!INSTR_KEEPS_RUNS && instr_settings.trouble != NULL)
        return; /* it is kept, perhaps in `text` */
    text[0] = '\0';
    instr_text_append(text, sizeof text, name);
    instr_text_append(text, sizeof text, why);
    instr_settings_complain(text);
#endif
}

static void set_switch(const char *name, bool *flag)
{
    const char *text = instr_setting_text(name);
    if (text == NULL)
        return;
    if (strcmp(text, "0") == 0)
        *flag = false;
    else if (strcmp(text, "1") == 0)
        *flag = true;
    else
        refuse(name, *flag ? " is not 0 or 1; 1 is used" : " is not 0 or 1; 0 is used");
}

#define NOT_A_SIZE " is not a size such as 65536, 256K or 4M; the default is used"

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
    const char *text = instr_setting_text("INSTR_POLICY");
    s->policy = DEFAULT_POLICY;
    if (text == NULL)
        return;
    if (strcmp(text, "stream") == 0)
        s->policy = INSTR_POLICY_STREAM;
    else if (strcmp(text, "end") == 0)
        s->policy = INSTR_POLICY_END;
    else if (strcmp(text, "ring") == 0)
        s->policy = INSTR_POLICY_RING;
    else
        refuse("INSTR_POLICY", " is not stream, end or ring; the default is used");
}

#if INSTR_CFG_MAX_BYTES == 1024u * 1024u * 1024u
#define LARGEST ", 1G,"
#else
#define LARGEST /* the build has its own */
#endif

static void set_buffer(struct instr_settings *s)
{
    uint64_t bytes = DEFAULT_BYTES(s->policy);
    const char *text = instr_setting_text("INSTR_BUFFER");
    if (text != NULL) {
        uint64_t wanted;
        if (!instr_parse_size(text, &wanted)) {
            refuse("INSTR_BUFFER", NOT_A_SIZE);
        } else if (wanted < INSTR_CFG_MIN_BYTES) {
            bytes = INSTR_CFG_MIN_BYTES;
            refuse("INSTR_BUFFER", " is too small; the smallest size, 4096 bytes, is used");
        } else if (wanted > INSTR_CFG_MAX_BYTES) {
            bytes = INSTR_CFG_MAX_BYTES;
            refuse("INSTR_BUFFER", " is too large; the largest size" LARGEST " is used");
        } else {
            bytes = wanted;
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

#if !INSTR_PLATFORM_SMALL
/* What is asked for and was left out of a static program. */
static void look_for_missing(void)
{
    const char *stack = instr_setting_text("INSTR_STACK");
    const bool missing = (!INSTR_SENSORS_LINKED && (instr_setting_text("INSTR_SENSORS") != NULL || instr_setting_text("INSTR_COUNTERS") != NULL)) ||
                         (!INSTR_HAS_SAMPLING && instr_setting_text("INSTR_SAMPLING_PERIOD") != NULL) ||
                         (!INSTR_HAS_STACK && stack != NULL && stack[0] == '1');
    if (missing)
        instr_settings_complain("the static program has no sensors, samples or stacks: link it with instr-cc --instr-config");
}
#endif

static void set_sink(struct instr_settings *s)
{
    static const char *const NAMES[] = {"file", "console", "ram", "own"};
    const char *text = instr_setting_text("INSTR_SINK");
    unsigned kind = 0;
    s->sink = DEFAULT_SINK;
    if (text != NULL) {
        while (kind < sizeof NAMES / sizeof NAMES[0] && strcmp(text, NAMES[kind]) != 0)
            kind++;
        if (kind < sizeof NAMES / sizeof NAMES[0])
            s->sink = (enum instr_sink_kind)kind;
        else
            refuse("INSTR_SINK", " is not file, console, ram or own; the default is used");
    }
    if (!instr_sink_has(s->sink)) {
        instr_settings_complain(INSTR_WHY("the program was linked without the sink of INSTR_SINK; the one it has is used"));
        s->sink = DEFAULT_SINK;
        for (kind = 0; kind < sizeof NAMES / sizeof NAMES[0] && !instr_sink_has(s->sink); kind++)
            s->sink = (enum instr_sink_kind)kind;
    }
    if (s->sink == INSTR_SINK_RAM && s->policy == INSTR_POLICY_STREAM)
        s->policy = INSTR_POLICY_END; /* there is nowhere to stream to */
}

static void set_write_max(struct instr_settings *s)
{
    const char *text = instr_setting_text("INSTR_WRITE_MAX");
    uint64_t bytes;
    s->write_max = DEFAULT_WRITE;
    if (text == NULL)
        return;
    if (instr_parse_size(text, &bytes) && bytes <= 0x40000000u)
        s->write_max = (uint32_t)bytes;
    else
        refuse("INSTR_WRITE_MAX", NOT_A_SIZE);
}

#if INSTR_KEEPS_RUNS
static void set_keep(struct instr_settings *s)
{
    const char *text = instr_setting_text("INSTR_KEEP");
    uint64_t runs;
    s->keep = INSTR_CFG_KEEP;
    if (text == NULL)
        return;
    if (instr_parse_size(text, &runs) && runs <= INSTR_CFG_MOST_KEEP)
        s->keep = (uint32_t)runs;
    else
        refuse("INSTR_KEEP", " is not a number from 0 to 1000; the default, 8, is used");
}
#endif

void instr_settings_read(void)
{
    struct instr_settings *s = &instr_settings;
    s->trouble = NULL;
#if INSTR_KEEPS_RUNS
    complaints[0] = '\0';
    set_switch("INSTR_PAUSED", &s->paused);
#endif
    set_switch("INSTR_ENABLED", &s->enabled);
    if (instr_platform_is_privileged())
        s->enabled = false;
    s->switches = true;
#if INSTR_HAS_SWITCHES
    const char *switches = instr_setting_text("INSTR_SWITCHES");
    s->switches_forced = switches != NULL && strcmp(switches, "1") == 0;
    if (switches != NULL && strcmp(switches, "0") == 0)
        s->switches = false;
    else if (switches != NULL && !s->switches_forced && strcmp(switches, "perf") != 0 && strcmp(switches, "ebpf") != 0) /* those are `instr run`'s */
        refuse("INSTR_SWITCHES", " is not 0, 1, perf or ebpf; 1 is used");
#else
    set_switch("INSTR_SWITCHES", &s->switches);
#endif
    set_switch("INSTR_VERBOSE", &s->verbose);
    set_switch("INSTR_MEMORY", &s->memory);
    if (INSTR_HAS_STACK)
        set_switch("INSTR_STACK", &s->stack);
    set_policy(s);
    set_sink(s);
    set_buffer(s);
    set_write_max(s);
    if (INSTR_HAS_SAMPLING)
        instr_sampling_settings();
    if (INSTR_SENSORS_LINKED)
        instr_sensors_settings();
#if INSTR_KEEPS_RUNS
    if (instr_pthread_settings != NULL)
        instr_pthread_settings();
#endif
#if !INSTR_PLATFORM_SMALL
    look_for_missing();
#endif
#if INSTR_KEEPS_RUNS
    set_keep(s);
#endif
    s->trace = instr_setting_text("INSTR_TRACE");
}

#if INSTR_KEEPS_RUNS
void instr_settings_read_again(void)
{
    set_switch("INSTR_VERBOSE", &instr_settings.verbose);
    set_switch("INSTR_MEMORY", &instr_settings.memory);
    if (instr_pthread_settings != NULL)
        instr_pthread_settings();
}
#endif

#include "core/cold.h"

#include "core/metadata.h"

#include <string.h>

#include "arch/arch.h"
#include "core/declarations.h"
#include "core/format.h"
#include "core/packed.h"
#include "core/packet.h"
#include "core/record.h"
#include "core/settings.h"
#include "core/static_config.h"
#include "core/switches.h"
#include "core/text.h"
#include "library/modules.h"
#include "ompt/ompt.h"
#include "platform/platform.h"
#include "sensors/optional.h"
#include "sinks/sink.h"

#define VERSION_MAJOR 0
#define VERSION_MINOR 1

static void text(const char *s)
{
    instr_sink_text(s, strlen(s));
}

static void number(uint64_t value)
{
    char buffer[INSTR_DECIMAL_BYTES];
    text(instr_decimal(value, 1, buffer));
}

static void hexadecimal(uint64_t value, unsigned fewest)
{
    char buffer[17];
    unsigned at = sizeof buffer - 1;
    buffer[at] = '\0';
    do {
        buffer[--at] = "0123456789abcdef"[(unsigned)value & 15u];
        value >>= 4;
    } while (value != 0 || sizeof buffer - 1 - at < fewest);
    text(buffer + at);
}

/* The inside of a TSDL string literal: what would end or break it is replaced, and each blank by `blank`. */
static void literal(const char *s, const char *blank)
{
    for (; *s != '\0'; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text("\\");
        instr_sink_text(c < 0x20 || c == 0x7f ? "?" : c == ' ' ? blank : s, 1);
    }
}

/* The begin of a line KEY = VALUE; of the env block. */
static void env_key(const char *key)
{
    text("    ");
    text(key);
}

static void env_string(const char *key, const char *value)
{
    env_key(key);
    text(" = \"");
    literal(value, " ");
    text("\";\n");
}

static void env_value(uint64_t value)
{
    text(" = ");
    number(value);
    text(";\n");
}

static void env_number(const char *key, uint64_t value)
{
    env_key(key);
    env_value(value);
}

/* The begin of a line KEY_NUMBER = "…"; of the env block. */
static void env_numbered(const char *key, uint64_t index)
{
    env_key(key);
    number(index);
    text(" = \"");
}

static void uuid(void)
{
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text("-");
        hexadecimal(instr_uuid[i], 2);
    }
}

static void module(void *arg, uintptr_t base, uintptr_t end, const uint8_t *id, size_t id_bytes, const char *path)
{
    uint64_t *count = arg;
    env_numbered("module_", (*count)++);
    hexadecimal(base, 1);
    text(" ");
    hexadecimal(end, 1);
    text(" ");
    if (id_bytes == 0)
        text("-");
    for (size_t i = 0; i < id_bytes; i++)
        hexadecimal(id[i], 2);
    text(" ");
    literal(path, " ");
    text("\";\n");
}

static void modules(void)
{
    uint64_t count = 0;
#if !INSTR_PLATFORM_SMALL
    if (instr_modules_tell != NULL) {
        instr_modules_tell(module, &count, instr_ticks(instr_process_clock()));
        return;
    }
#endif
    instr_platform_modules(module, &count);
}

__attribute__((weak)) const char *instr_openmp(bool closed)
{
    (void)closed;
#if !INSTR_PLATFORM_SMALL
    if (&instr_ompt_foreign != NULL)
        return "libomp, observed by another tool";
#endif
    return "libgomp";
}

/* One line KEY_NUMBER = "…" of the env block whose value is words, separated by blanks: see sensors/describe.c. */
static void env_text(const char *key, uint32_t index, const char *const *words, unsigned count)
{
    env_numbered(key, index);
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            text(" ");
        literal(words[i], i + 1 < count ? "_" : " "); /* a blank ends a word, but for the last one */
    }
    text("\";\n");
}

#if INSTR_HAS_TAKEOVER
/* How many packets each stream has: then a file that is missing or cut is noticed. */
static void streams(const struct instr_thread *first)
{
    for (const struct instr_thread *t = first; t != NULL; t = t->next) {
        if (t->next_seq == 0)
            continue;
        env_key("stream_");
        number(t->stream);
        env_value(t->next_seq);
    }
}
#endif

#if INSTR_KEEPS_RUNS
/* What the run is known by among others, and the settings as they were given: the host says which it cannot be. */
static void command(const struct instr_metadata *m)
{
    const char *variable;
    if (instr_sink_run != 0)
        env_number("run", instr_sink_run);
    if (m->empty)
        env_number("empty", 1);
    env_string("arguments", instr_platform_arguments());
    for (uint32_t i = 0; (variable = instr_platform_variable(i)) != NULL; i++) {
        env_numbered("setting_", i);
        literal(variable, " ");
        text("\";\n");
    }
}
#endif

static void env(const struct instr_metadata *m)
{
    char host[256];
    const char *program = m->executable != NULL ? m->executable : "program";
    const char *slash = strrchr(program, '/');
    instr_platform_hostname(host, sizeof host);
    text("env {\n");
    env_string("hostname", host);
    env_string("domain", "ust");
    env_string("tracer_name", "instr");
    env_number("tracer_major", VERSION_MAJOR);
    env_number("tracer_minor", VERSION_MINOR);
    env_number("format", 2);
    env_number("pid", instr_platform_pid());
    env_string("program", slash != NULL ? slash + 1 : program);
    env_string("executable", m->executable != NULL ? m->executable : "");
    env_string("target", INSTR_HAS_CONFIG && instr_config.target != NULL ? instr_config.target : instr_platform_name());
    env_number("word_bits", 8 * sizeof(void *));
#if UINTPTR_MAX > 0xffffffffu
    env_number("code_base", instr_code_base);
#endif
    env_string("policy", instr_policy_name(instr_settings.policy));
    env_number("buffer_bytes", instr_settings.buffer);
    env_string("clock_source", instr_process_clock() == INSTR_ON_TICKS ? INSTR_ARCH_TICKS_NAME : "monotonic");
    env_number("start_ticks", m->start.ticks);
    env_number("start_monotonic_ns", m->start.monotonic_ns);
    env_number("start_realtime_ns", m->start.realtime_ns);
#if INSTR_HAS_THREAD_TIME
    env_number("processors", m->processors);
    env_number("processor_quota", m->processor_quota);
#endif
#if INSTR_HAS_SWITCHES
    env_string("switches", instr_switches_state());
#endif
    env_string("openmp", instr_openmp(m->closed));
    env_number("closed", m->closed ? 1 : 0);
    env_number("discarded_unattached", instr_lost_unattached());
    if (!instr_sink_declares())
        env_number("declarations", INSTR_DECLARATIONS);
    if (instr_settings.trouble != NULL)
        env_string("setting_trouble", instr_settings.trouble);
#if INSTR_KEEPS_RUNS
    command(m);
#endif
    if (instr_settings.sensors_period_ns != 0)
        env_number("sensors_period_ns", instr_settings.sensors_period_ns);
#if INSTR_HAS_FUNCTIONS
    if (instr_settings.counters != NULL && (instr_settings.sensors_at & INSTR_AT_FUNCTION) != 0)
        env_number("counted_functions", 1);
#endif
    if (INSTR_SENSORS_LINKED)
        instr_sensors_describe(env_text);
    modules();
#if INSTR_HAS_TAKEOVER
    streams(m->windows);
#if INSTR_HAS_SWITCHES
    if (m->closed)
        streams(instr_switches_streams());
#endif
#endif
    text("};\n\n");
}

/* The clock's zero is the epoch of the ticks; its offset makes it wall-clock time. */
static void clock(const struct instr_metadata *m)
{
    const uint64_t seconds = m->frequency == 0 ? 0 : m->start.ticks / m->frequency;
    const uint64_t rest = m->frequency == 0 ? 0 : m->start.ticks % m->frequency;
    const uint64_t rest_ns = m->frequency < 1000 ? 0 : rest * 1000 / (m->frequency / 1000) * 1000 / 1000;
    const uint64_t start_ns = m->start.realtime_ns;
    const uint64_t since_zero = seconds * 1000000000u + rest_ns * 1000u;
    const uint64_t zero_ns = start_ns > since_zero ? start_ns - since_zero : 0;
    text("clock {\n    name = instr;\n    freq = ");
    number(m->frequency);
    text(";\n    precision = 1;\n    offset_s = ");
    number(zero_ns / 1000000000u);
    text(";\n    offset = ");
    number((zero_ns % 1000000000u) / 1000u * (m->frequency / 1000u) / 1000u);
    text(";\n};\n\n");
}

bool instr_metadata_write(const struct instr_metadata *m)
{
    if (!instr_sink_text_begin())
        return false;
    text("/* CTF 1.8 */\n\n");
    instr_sink_declare(false);
    text("trace {\n    major = 1;\n    minor = 8;\n    uuid = \"");
    uuid();
    text(INSTR_BIG_ENDIAN ? "\";\n    byte_order = be;\n" : "\";\n    byte_order = le;\n");
    text("    packet.header := struct {\n        u32 magic;\n        u8 uuid[16];\n        u32 stream_id;\n    };\n};\n\n");
    env(m);
    clock(m);
    instr_sink_declare(true);
    return instr_sink_text_end();
}

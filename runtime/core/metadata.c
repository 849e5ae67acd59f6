#include "core/cold.h"

#include "core/metadata.h"

#include <string.h>

#include "arch/arch.h"
#include "core/packet.h"
#include "core/settings.h"
#include "platform/platform.h"
#include "sensors/sensors.h"
#include "sinks/sink.h"

#define VERSION_MAJOR 0
#define VERSION_MINOR 1

static void text(const char *s)
{
    instr_sink_text(s, strlen(s));
}

static void number(uint64_t value, unsigned base, unsigned digits)
{
    char buffer[24];
    unsigned at = sizeof buffer;
    do {
        buffer[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (at > 0 && (value != 0 || sizeof buffer - at < digits));
    instr_sink_text(buffer + at, sizeof buffer - at);
}

/* A TSDL string literal; what would end or break it is replaced by an escape. */
static void quoted(const char *s)
{
    text("\"");
    for (; *s != '\0'; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            const char pair[2] = {'\\', *s};
            instr_sink_text(pair, 2);
        } else if (c < 0x20 || c == 0x7f) {
            text("?");
        } else {
            instr_sink_text(s, 1);
        }
    }
    text("\"");
}

static void env_string(const char *key, const char *value)
{
    text("    ");
    text(key);
    text(" = ");
    quoted(value);
    text(";\n");
}

static void env_number(const char *key, uint64_t value)
{
    text("    ");
    text(key);
    text(" = ");
    number(value, 10, 1);
    text(";\n");
}

static void uuid(void)
{
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text("-");
        number(instr_uuid[i], 16, 2);
    }
}

static void module(void *arg, uintptr_t base, uintptr_t end, const uint8_t *id, size_t id_bytes, const char *path)
{
    uint64_t *count = arg;
    text("    module_");
    number((*count)++, 10, 1);
    text(" = \"");
    number(base, 16, 1);
    text(" ");
    number(end, 16, 1);
    text(" ");
    if (id_bytes == 0)
        text("-");
    for (size_t i = 0; i < id_bytes; i++)
        number(id[i], 16, 2);
    text(" ");
    for (; *path != '\0'; path++) {
        const unsigned char c = (unsigned char)*path;
        if (c == '"' || c == '\\')
            text("\\");
        instr_sink_text(c < 0x20 || c == 0x7f ? "?" : path, 1);
    }
    text("\";\n");
}

__attribute__((weak)) const char *instr_openmp(bool closed)
{
    (void)closed;
    return "libgomp";
}

/* One line KEY_NUMBER = "…" of the env block whose value is words, separated by blanks: see sensors/describe.c. */
static void env_text(const char *key, uint32_t index, const char *const *words, unsigned count)
{
    text("    ");
    text(key);
    number(index, 10, 1);
    text(" = \"");
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            text(" ");
        for (const char *s = words[i]; *s != '\0'; s++) {
            const unsigned char c = (unsigned char)*s;
            if (c == '"' || c == '\\')
                text("\\");
            /* a blank ends a word, but for the last one */
            instr_sink_text(c < 0x20 || c == 0x7f ? "?" : c == ' ' && i + 1 < count ? "_" : s, 1);
        }
    }
    text("\";\n");
}

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
    env_number("format", 1);
    env_number("pid", instr_platform_pid());
    env_string("program", slash != NULL ? slash + 1 : program);
    env_string("executable", m->executable != NULL ? m->executable : "");
    env_string("target", instr_platform_name());
    env_number("word_bits", 8 * sizeof(void *));
    env_string("policy", instr_policy_name(instr_settings.policy));
    env_number("buffer_bytes", instr_settings.buffer);
    env_string("clock_source", instr_process_clock() == INSTR_ON_TICKS ? INSTR_ARCH_TICKS_NAME : "monotonic");
    env_number("start_ticks", m->start.ticks);
    env_number("start_monotonic_ns", m->start.monotonic_ns);
    env_number("start_realtime_ns", m->start.realtime_ns);
    env_string("openmp", instr_openmp(m->closed));
    env_number("closed", m->closed ? 1 : 0);
    env_number("discarded_unattached", instr_lost_unattached());
    if (instr_settings.trouble != NULL)
        env_string("setting_trouble", instr_settings.trouble);
    if (instr_settings.sensors_period_ns != 0)
        env_number("sensors_period_ns", instr_settings.sensors_period_ns);
    instr_sensors_describe(env_text);
    uint64_t modules = 0;
    instr_platform_modules(module, &modules);
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
    text("clock {\n    name = instr;\n    description = \"ticks of the traced machine\";\n    freq = ");
    number(m->frequency, 10, 1);
    text(";\n    precision = 1;\n    offset_s = ");
    number(zero_ns / 1000000000u, 10, 1);
    text(";\n    offset = ");
    number((zero_ns % 1000000000u) / 1000u * (m->frequency / 1000u) / 1000u, 10, 1);
    text(";\n    absolute = FALSE;\n};\n\n");
}

static const char TYPES[] =
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 32; align = 32; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 32; signed = false; } := u64;\n"
    "typealias integer { size = 64; align = 32; signed = true; } := i64;\n"
    "typealias integer { size = 64; align = 32; signed = false; map = clock.instr.value; } := ticks_t;\n"
    "typealias integer { size = 56; align = 8; signed = false; map = clock.instr.value; } := ticks56_t;\n";

static const char STREAM[] =
    "struct packet_context {\n"
    "    ticks_t timestamp_begin;\n    ticks_t timestamp_end;\n    u64 content_size;\n    u64 packet_size;\n"
    "    u64 packet_seq_num;\n    u64 events_discarded;\n    u32 thread;\n    u32 os_tid;\n    u32 task_thread;\n"
    "    u32 task_seq;\n    u32 region_thread;\n    u32 region_seq;\n    u32 flags;\n    u32 tasks_created;\n};\n\n"
    "struct event_header {\n    u8 id;\n    ticks56_t timestamp;\n} align(32);\n\n"
    "struct depend {\n    addr_t address;\n    u32 kind;\n};\n\n"
    "stream {\n    id = 0;\n    event.header := struct event_header;\n    packet.context := struct packet_context;\n};\n\n";

struct event_text {
    uint8_t id;
    const char *name;
    const char *fields;
};

/* One row per event of docs/trace-format.md. */
static const struct event_text EVENTS[] = {
    {INSTR_EV_THREAD_BEGIN, "thread_begin", "u32 os_tid; u32 flags;"},
    {INSTR_EV_THREAD_END, "thread_end", ""},
    {INSTR_EV_CLOCK_SYNC, "clock_sync", "u64 ticks; u64 monotonic_ns; u64 realtime_ns;"},
    {INSTR_EV_FLUSH, "flush", "u64 begin; u32 bytes;"},
    {INSTR_EV_TRACING_OFF, "tracing_off", ""},
    {INSTR_EV_TRACING_ON, "tracing_on", ""},
    {INSTR_EV_STRING, "string", "string text; addr_t address;"},
    {INSTR_EV_USER, "user_event", "u32 type; u64 value;"},
    {INSTR_EV_REGION_BEGIN, "region_begin", "addr_t name;"},
    {INSTR_EV_REGION_END, "region_end", ""},
    {INSTR_EV_COUNTER, "counter", "addr_t name; i64 value;"},
    {INSTR_EV_CALL_BEGIN, "call_begin", "addr_t name; u32 count; u64 args[count];"},
    {INSTR_EV_CALL_END, "call_end", "u64 result;"},
    {INSTR_EV_PARALLEL_BEGIN, "parallel_begin", "u32 seq; addr_t function; u32 requested; u32 kind;"},
    {INSTR_EV_PARALLEL_END, "parallel_end", "u32 seq;"},
    {INSTR_EV_IMPLICIT_BEGIN, "implicit_begin", "u32 region_thread; u32 region_seq; u32 thread_num; u32 team_size;"},
    {INSTR_EV_IMPLICIT_END, "implicit_end", ""},
    {INSTR_EV_LOOP_BEGIN, "loop_begin", "u32 schedule; i64 start; i64 end; i64 incr; i64 chunk;"},
    {INSTR_EV_SECTIONS_BEGIN, "sections_begin", "u32 count;"},
    {INSTR_EV_SINGLE, "single", "u32 executor;"},
    {INSTR_EV_CHUNK_BEGIN, "chunk_begin", "i64 begin; i64 end;"},
    {INSTR_EV_SECTION_BEGIN, "section_begin", "u32 number;"},
    {INSTR_EV_DISPATCH, "dispatch", ""},
    {INSTR_EV_WORK_END, "work_end", "u32 nowait;"},
    {INSTR_EV_STATIC_LOOP, "static_loop", "addr_t site;"},
    {INSTR_EV_MASKED_BEGIN, "masked_begin", ""},
    {INSTR_EV_MASKED_END, "masked_end", ""},
    {INSTR_EV_SCOPE_BEGIN, "scope_begin", ""},
    {INSTR_EV_SINGLE_END, "single_end", ""},
    {INSTR_EV_SYNC_BEGIN, "sync_begin", "u32 kind;"},
    {INSTR_EV_SYNC_END, "sync_end", "u32 kind;"},
    {INSTR_EV_MUTEX_ACQUIRE, "mutex_acquire", "u32 kind; addr_t object;"},
    {INSTR_EV_MUTEX_ACQUIRED, "mutex_acquired", "u32 kind; addr_t object;"},
    {INSTR_EV_MUTEX_RELEASED, "mutex_released", "u32 kind; addr_t object;"},
    {INSTR_EV_MUTEX_FAILED, "mutex_failed", "u32 kind; addr_t object;"},
    {INSTR_EV_CANCEL, "cancel", "u32 kind; u32 flags;"},
    {INSTR_EV_DOACROSS, "doacross", "u32 kind; u32 count; i64 vector[count];"},
    {INSTR_EV_TASK_CREATE, "task_create", "u32 seq; addr_t function; u32 flags; u32 count; struct depend deps[count];"},
    {INSTR_EV_TASK_CREATED, "task_created", ""},
    {INSTR_EV_TASK_BEGIN, "task_begin", "u32 thread; u32 seq;"},
    {INSTR_EV_TASK_END, "task_end", ""},
    {INSTR_EV_TASK_DEPEND, "task_depend", "u32 seq; u32 count; struct depend deps[count];"},
    {INSTR_EV_TASKWAIT_DEPEND, "taskwait_depend", "u32 seq; u32 flags; u32 count; struct depend deps[count];"},
    {INSTR_EV_TASKLOOP_BEGIN, "taskloop_begin",
     "u32 seq; addr_t function; u32 flags; u64 num_tasks; i64 start; i64 end; i64 step;"},
    {INSTR_EV_TASKLOOP_END, "taskloop_end", ""},
    {INSTR_EV_TASKGROUP_BEGIN, "taskgroup_begin", ""},
    {INSTR_EV_TASKLOOP_TASK, "taskloop_task", "u32 loop_thread; u32 loop_seq; u32 seq; i64 start; i64 end;"},
    {INSTR_EV_TASK_SUSPEND, "task_suspend", ""},
    {INSTR_EV_TASK_RESUME, "task_resume", "u32 thread; u32 seq;"},
    {INSTR_EV_TASK_EVENT, "task_event", "u32 thread; u32 seq; addr_t handle;"},
    {INSTR_EV_TASK_FULFILL, "task_fulfill", "u32 thread; u32 seq; addr_t handle;"},
    {INSTR_EV_TARGET_BEGIN, "target_begin", "u32 kind; addr_t function; u32 device; u32 flags;"},
    {INSTR_EV_TARGET_END, "target_end", "u32 kind;"},
    {INSTR_EV_OMP_ALLOC, "omp_alloc", "u32 kind; addr_t address; u64 bytes; addr_t allocator;"},
    {INSTR_EV_OMP_FREE, "omp_free", "u32 kind; addr_t address;"},
    {INSTR_EV_SENSOR, "sensor", "u32 sensor; u32 count; i64 values[count];"},
    {INSTR_EV_SENSOR_LOST, "sensor_lost", "u32 sensor; u32 error;"},
    {INSTR_EV_THREAD_COUNTERS, "thread_counters", "u32 flags; u32 count; i64 values[count];"},
    {INSTR_EV_MEM_ALLOC, "mem_alloc", "u32 kind; addr_t address; u64 bytes; addr_t site;"},
    {INSTR_EV_MEM_FREE, "mem_free", "u32 kind; addr_t address;"},
    {INSTR_EV_MEM_REALLOC, "mem_realloc", "addr_t old; addr_t address; u64 bytes; addr_t site;"},
    {INSTR_EV_MEM_MAP, "mem_map", "addr_t address; u64 bytes; addr_t site;"},
    {INSTR_EV_MEM_UNMAP, "mem_unmap", "addr_t address; u64 bytes;"},
    {INSTR_EV_MEM_REMAP, "mem_remap", "addr_t old; u64 old_bytes; addr_t address; u64 bytes; addr_t site;"},
    {INSTR_EV_MEM_HEAP, "mem_heap", "u64 arena; u64 used; u64 free; u64 mapped;"},
    {INSTR_EV_STACK, "stack", "u32 kind; addr_t low; addr_t high; addr_t mark;"},
    {INSTR_EV_SAMPLING, "sampling", "u32 source; u32 signal; u64 period_ns;"},
    {INSTR_EV_SAMPLE, "sample", "addr_t pc; addr_t sp; u32 weight; u32 count; addr_t stack[count];"},
    {INSTR_EV_SAMPLE_STACK, "sample_stack",
     "addr_t pc; addr_t sp; u32 weight; u32 registers; u32 count; addr_t words[count];"},
    {INSTR_EV_SAMPLE_LOST, "sample_lost", "u32 count;"},
    {INSTR_EV_THREAD_SWITCH, "thread_switch", "u32 processor; u32 from; u32 to;"},
    {INSTR_EV_PROCESSOR, "processor", "u32 processor;"},
};

static void events(void)
{
    for (size_t i = 0; i < sizeof EVENTS / sizeof EVENTS[0]; i++) {
        text("event { id = ");
        number(EVENTS[i].id, 10, 1);
        text("; name = ");
        quoted(EVENTS[i].name);
        text("; stream_id = 0; fields := struct { ");
        text(EVENTS[i].fields);
        text(" }; };\n");
    }
}

bool instr_metadata_write(const struct instr_metadata *m)
{
    if (!instr_sink_text_begin())
        return false;
    text("/* CTF 1.8 */\n\n");
    text(TYPES);
    text(sizeof(void *) == 8 ? "typealias integer { size = 64; align = 32; signed = false; base = 16; } := addr_t;\n\n"
                             : "typealias integer { size = 32; align = 32; signed = false; base = 16; } := addr_t;\n\n");
    text("trace {\n    major = 1;\n    minor = 8;\n    uuid = \"");
    uuid();
    text(INSTR_BIG_ENDIAN ? "\";\n    byte_order = be;\n" : "\";\n    byte_order = le;\n");
    text("    packet.header := struct {\n        u32 magic;\n        u8 uuid[16];\n        u32 stream_id;\n    };\n};\n\n");
    env(m);
    clock(m);
    text(STREAM);
    events();
    return instr_sink_text_end();
}

/* The public interface (instr/instr.h). */
#define INSTR_IMPLEMENTATION
#include "instr/instr.h"

#include "core/packet.h"
#include "core/process.h"
#include "core/record.h"
#include "sensors/optional.h"

/* Weak: every program that is not static has this file, and one that has functions of these names itself keeps them. */
#ifdef INSTR_SHARED /* libraries ask for these through the table; a symbol would be taken for one of the library's own */
#define EXPORT __attribute__((visibility("hidden")))
#else
#define EXPORT __attribute__((visibility("default"), weak))
#endif

/*
 * Each function has two halves. The first writes an event where nothing is in the way: it calls nothing, so that it needs no frame. The second
 * does everything else.
 */
#define COLD __attribute__((noinline, cold))

/* An event of `count` words, of which the first are the address of `name`, if that is not NULL. */
static COLD bool record(unsigned id, const char *name, const uint32_t *words, unsigned count)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s = {NULL, NULL, NULL}; /* GCC 11 does not see that it is set where p is */
    if (t == NULL || instr_late(t, id, words, count))
        return false;
    uint32_t *p = name != NULL ? instr_open_named(t, &s, id, count, name) : instr_open_here(t, &s, id, count);
    if (p == NULL)
        return false;
    for (unsigned i = 0; i < count; i++)
        p[i] = words[i];
    instr_close(&s);
    return true;
}

/* instr_open_at_once() for an event with a name, whose text the packet must hold already. */
static inline uint32_t *open_named(struct instr_slot *s, unsigned id, size_t words, const char *name)
{
    uint32_t *p = instr_open_at_once(s, id, words);
    if (p == NULL || INSTR_LIKELY(instr_is_defined(s->thread, name)))
        return p;
    instr_forget_time(s->thread);
    s->thread->limit = s->limit;
    return NULL;
}

static COLD void record_event(uint32_t type, uint64_t value)
{
    uint32_t words[3];
    instr_put64(instr_put32(words, type), value);
    (void)record(INSTR_EV_USER_EVENT, NULL, words, 3);
}

EXPORT void instr_event(uint32_t type, uint64_t value)
{
    struct instr_slot s;
    uint32_t *p = instr_open_at_once(&s, INSTR_EV_USER_EVENT, 3);
    if (!INSTR_LIKELY(p != NULL)) {
        record_event(type, value);
        return;
    }
    instr_put64(instr_put32(p, type), value);
    instr_close(&s);
}

static COLD void record_region(const char *name)
{
    uint32_t words[INSTR_ADDR_WORDS];
    instr_put_addr(words, (uintptr_t)name);
    if (record(INSTR_EV_REGION_BEGIN, name, words, INSTR_ADDR_WORDS))
        instr_point(instr_self, INSTR_AT_REGION);
}

EXPORT void instr_region_begin(const char *name)
{
    struct instr_slot s;
    if (name == NULL)
        return;
    uint32_t *p = open_named(&s, INSTR_EV_REGION_BEGIN, INSTR_ADDR_WORDS, name);
    if (!INSTR_LIKELY(p != NULL)) {
        record_region(name);
        return;
    }
    instr_put_addr(p, (uintptr_t)name);
    instr_close(&s);
    instr_point(s.thread, INSTR_AT_REGION);
}

EXPORT void instr_region_end(void)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL)
        return;
    instr_point(t, INSTR_AT_REGION);
    if (!instr_late(t, INSTR_EV_REGION_END, NULL, 0))
        instr_event0(t, INSTR_EV_REGION_END);
}

static COLD void record_counter(const char *name, int64_t value)
{
    uint32_t words[INSTR_ADDR_WORDS + 2];
    instr_put64(instr_put_addr(words, (uintptr_t)name), (uint64_t)value);
    (void)record(INSTR_EV_COUNTER, name, words, INSTR_ADDR_WORDS + 2);
}

EXPORT void instr_counter(const char *name, int64_t value)
{
    struct instr_slot s;
    if (name == NULL)
        return;
    uint32_t *p = open_named(&s, INSTR_EV_COUNTER, INSTR_ADDR_WORDS + 2, name);
    if (!INSTR_LIKELY(p != NULL)) {
        record_counter(name, value);
        return;
    }
    instr_put64(instr_put_addr(p, (uintptr_t)name), (uint64_t)value);
    instr_close(&s);
}

/* What sensors say at the edges of what is recorded. */
static void read_sensors(struct instr_thread *t)
{
#if INSTR_KEEPS_RUNS
    if (instr_process.points != 0)
        instr_sensors_read(t, INSTR_AT_BEGIN_END);
#else
    (void)t;
#endif
}

EXPORT int instr_start(const char *config)
{
#if INSTR_KEEPS_RUNS
    if (!instr_process_start(config))
        return INSTR_REFUSED;
#else
    if (config != NULL)
        return INSTR_REFUSED; /* settings are compiled in */
#endif
    if (instr_switch(true)) {
        struct instr_thread *t = instr_thread();
        if (t != NULL) {
            instr_event0(t, INSTR_EV_TRACING_ON);
            read_sensors(t);
        }
    }
    return instr_process.active != INSTR_OFF ? 0 : INSTR_NOT_RECORDED;
}

EXPORT int instr_stop(void)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL) {
        read_sensors(t);
        instr_event0(t, INSTR_EV_TRACING_OFF);
    }
    (void)instr_switch(false);
    return 0;
}

EXPORT int instr_flush(void)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL)
        return -1;
    if (instr_is_busy(t->limit))
        return -1;
    struct instr_guest guest;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    t->limit = NULL;
    INSTR_BARRIER();
    bool turned = false;
    if (instr_process.active != INSTR_OFF) { /* else the trace is being closed */
        instr_late_write_all(t);
        turned = t->slots == 1 && instr_packet_turn(t);
    }
    INSTR_BARRIER();
    t->limit = t->slot_end;
    instr_platform_leave(&guest);
    return turned ? 0 : -1;
}

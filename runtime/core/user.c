/* The public interface (instr/instr.h). */
#define INSTR_IMPLEMENTATION
#include "instr/instr.h"

#include "core/packet.h"
#include "core/process.h"
#include "core/record.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void instr_event(uint32_t type, uint64_t value)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t != NULL && (p = instr_open(t, &s, INSTR_EV_USER_EVENT, 3)) != NULL) {
        instr_put64(instr_put32(p, type), value);
        instr_close(&s);
    }
}

EXPORT void instr_region_begin(const char *name)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || name == NULL)
        return;
    instr_define(t, name);
    if ((p = instr_open(t, &s, INSTR_EV_REGION_BEGIN, INSTR_ADDR_WORDS)) != NULL) {
        instr_put_addr(p, (uintptr_t)name);
        instr_close(&s);
        instr_point(t, INSTR_AT_REGION);
    }
}

EXPORT void instr_region_end(void)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL)
        return;
    instr_point(t, INSTR_AT_REGION);
    instr_event0(t, INSTR_EV_REGION_END);
}

EXPORT void instr_counter(const char *name, int64_t value)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || name == NULL)
        return;
    instr_define(t, name);
    if ((p = instr_open(t, &s, INSTR_EV_COUNTER, INSTR_ADDR_WORDS + 2)) != NULL) {
        instr_put64(instr_put_addr(p, (uintptr_t)name), (uint64_t)value);
        instr_close(&s);
    }
}

EXPORT int instr_start(const char *config)
{
    if (config != NULL)
        return -1; /* a configuration given at run time is not supported: nothing is changed */
    if (instr_switch(true)) {
        struct instr_thread *t = instr_thread();
        if (t != NULL)
            instr_event0(t, INSTR_EV_TRACING_ON);
    }
    return instr_process.active != INSTR_OFF ? 0 : -1;
}

EXPORT int instr_stop(void)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event0(t, INSTR_EV_TRACING_OFF);
    (void)instr_switch(false);
    return 0;
}

EXPORT int instr_flush(void)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL)
        return -1;
    char *limit = t->limit;
    if (limit == NULL)
        return -1;
    t->limit = NULL;
    INSTR_BARRIER();
    if (instr_process.active == INSTR_OFF) { /* the trace is being closed */
        t->limit = limit;
        return -1;
    }
    struct instr_guest guest;
    instr_platform_enter(&guest);
    const bool turned = t->slots == 1 && instr_packet_turn(t);
    instr_platform_leave(&guest);
    INSTR_BARRIER();
    t->limit = turned ? t->slot_end : limit;
    return turned ? 0 : -1;
}

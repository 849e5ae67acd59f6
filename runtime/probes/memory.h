/* What the probes of the heap share. */
#ifndef INSTR_PROBES_MEMORY_H
#define INSTR_PROBES_MEMORY_H

#include "core/process.h"
#include "core/record.h"
#include "core/settings.h"
#include "instr/probes.h"

/*
 * A function of the family that is called by another one of it is not told: in static programs C++'s `new` calls our malloc. Counted
 * apart, since a new handler, which `new` calls, gives memory back.
 */
struct instr_memory_inside {
    uint32_t getting;
    uint32_t giving;
};
extern _Thread_local struct instr_memory_inside instr_memory_inside __attribute__((tls_model("initial-exec")));

/* Out of line: the calling thread's first event, or recording is off. */
struct instr_thread *instr_memory_attach(void);

/* Of the calling thread, or NULL when this call is not to be told. */
static inline struct instr_thread *instr_memory_thread(uint32_t inside)
{
    struct instr_thread *t = instr_self;
    if (!INSTR_LIKELY(instr_settings.memory) || inside != 0)
        return NULL;
    return INSTR_LIKELY(t != NULL && instr_process.active != INSTR_OFF) ? t : instr_memory_attach();
}

static inline void instr_memory_freed(struct instr_thread *t, unsigned kind, const void *address)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_MEM_FREE, 1 + INSTR_ADDR_WORDS);
    if (p == NULL)
        return;
    instr_put_addr(instr_put32(p, kind), (uintptr_t)address);
    instr_close(&s);
}

/* Tells an allocation of the calling thread. */
void instr_memory_got(unsigned kind, const void *address, size_t size, uintptr_t site);

#endif

/* What the probes of the heap share. */
#ifndef INSTR_PROBES_MEMORY_H
#define INSTR_PROBES_MEMORY_H

#include <stdbool.h>

#include "core/process.h"
#include "core/record.h"
#include "core/settings.h"
#include "instr/probes.h"

/*
 * A function of the family that is called by another one of it is not told: in static programs C++'s `new` calls our malloc. Counted
 * apart, since a new handler, which `new` calls, gives memory back. What the inner one got waits: the outer one may return something
 * else, or throw an exception that is in that block.
 */
struct instr_memory_inside {
    uint32_t getting;
    uint32_t giving;
    uintptr_t address; /* of the block that waits; 0: none */
    uint64_t bytes;
    uintptr_t site;
};
extern _Thread_local struct instr_memory_inside instr_memory_inside INSTR_TLS;

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

/* Tells that a call of the calling thread begins that gives `address` back. */
void instr_memory_gives_back(unsigned kind, const void *address);

/* Tells the end of one that gave `any` back. */
void instr_memory_gave_back(bool any);

/* Tells that a call of the calling thread begins that gets a block. */
void instr_memory_gets(unsigned kind, uint64_t bytes, uintptr_t site);

/* Tells its end, or lets it wait for the outer function's end. */
void instr_memory_got(const void *address, uint64_t bytes, uintptr_t site);

/* The outer function has got `address` (NULL: nothing, or it throws): what waits and is something else is told. */
void instr_memory_waiting(const void *address);

/* Around the outer function. */
static inline void instr_memory_enter(void)
{
    instr_memory_inside.getting++;
}

static inline void instr_memory_leave(const void *address)
{
    if (--instr_memory_inside.getting == 0 && instr_memory_inside.address != 0)
        instr_memory_waiting(address);
}

#endif

/*
 * Libraries of the process come and go. The dynamic linker calls their constructors and destructors one at a time, so that only what other
 * threads read meanwhile, the list's head and links, is stored with care.
 */
#include "core/cold.h"

#include <stdatomic.h>
#include <string.h>

#include "core/process.h"
#include "core/static_config.h"
#include "library/table.h"
#include "platform/platform.h"

static struct instr_library *_Atomic joined;
static volatile uint32_t flags_seen;
volatile uint32_t instr_library_joins;
volatile uintptr_t instr_library_places[INSTR_LIBRARY_PLACES];
static bool runtime_ended; /* the object with the runtime: its destructor comes at the end of the process alone */

/* The entry with this address, changed. */
static void replace_place(uintptr_t from, uintptr_t to)
{
    for (unsigned i = 0; i < INSTR_LIBRARY_PLACES; i++)
        if (instr_library_places[i] == from) {
            instr_library_places[i] = to;
            return;
        }
}

void instr_library_join(struct instr_library *library)
{
    const bool brings_heap = (library->flags & ~flags_seen & INSTR_LIBRARY_MEMORY) != 0;
    library->next = atomic_load_explicit(&joined, memory_order_relaxed);
    atomic_store_explicit(&joined, library, memory_order_release);
    if ((library->flags & INSTR_LIBRARY_PRELOADED) == 0) {
        replace_place(0, (uintptr_t)library);
        instr_library_joins++;
    }
#ifdef INSTR_SHARED
    if (instr_config_given == NULL)
        instr_config_given = library->config;
#endif
    flags_seen |= library->flags & INSTR_LIBRARY_PRELOADED; /* decides a setting */
    instr_process_begin();
    flags_seen |= library->flags;
    if (brings_heap)
        instr_process_heap();
    instr_modules_changed();
}

/* Other texts may lie at the addresses of this library's soon. No thread is in it any more. */
static void forget_strings(struct instr_thread *t)
{
    memset(t->strings, 0, sizeof t->strings);
}

void instr_library_leave(struct instr_library *library)
{
    struct instr_library *at = atomic_load_explicit(&joined, memory_order_relaxed);
    if (at == library) {
        atomic_store_explicit(&joined, library->next, memory_order_release);
    } else {
        while (at != NULL && at->next != library)
            at = at->next;
        if (at == NULL)
            return;
        at->next = library->next;
    }
    if ((library->flags & INSTR_LIBRARY_PRELOADED) == 0) {
        replace_place((uintptr_t)library, 0);
        instr_library_joins++; /* another object may come to the place of this one */
    }
    if (!runtime_ended)
        instr_process_each(forget_strings);
    else if (!instr_libraries_stay())
        instr_process_end();
}

bool instr_libraries_stay(void)
{
    runtime_ended = true;
    return atomic_load_explicit(&joined, memory_order_relaxed) != NULL;
}

bool instr_library_has(uint32_t flag)
{
    return (flags_seen & flag) != 0;
}

const struct instr_getters *instr_library_getters(void)
{
    for (const struct instr_library *l = atomic_load_explicit(&joined, memory_order_acquire); l != NULL; l = l->next)
        if (l->getters.thread_num != NULL)
            return &l->getters;
    return NULL;
}

/*
 * Libraries of the process come and go. The dynamic linker calls their constructors and destructors one at a time, so that only what other
 * threads read meanwhile, the list's head and links, is stored with care.
 */
#include "core/cold.h"

#include <stdatomic.h>

#include "core/process.h"
#include "core/static_config.h"
#include "library/table.h"
#include "platform/platform.h"

static struct instr_library *_Atomic joined;

void instr_library_join(struct instr_library *library)
{
    library->next = atomic_load_explicit(&joined, memory_order_relaxed);
    atomic_store_explicit(&joined, library, memory_order_release);
#ifdef INSTR_SHARED
    if (instr_config_given == NULL)
        instr_config_given = library->config;
#endif
    instr_process_join();
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
    instr_process_leave();
}

bool instr_library_has(uint32_t flag)
{
    for (const struct instr_library *l = atomic_load_explicit(&joined, memory_order_acquire); l != NULL; l = l->next)
        if (l->flags & flag)
            return true;
    return false;
}

const struct instr_getters *instr_library_getters(void)
{
    for (const struct instr_library *l = atomic_load_explicit(&joined, memory_order_acquire); l != NULL; l = l->next)
        if (l->getters.thread_num != NULL)
            return &l->getters;
    return NULL;
}

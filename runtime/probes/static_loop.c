/*
 * Static loops. GCC 16 and before compile them inline; they begin with the calls omp_get_num_threads, omp_get_thread_num, which stand
 * next to each other in the code (7 to 16 bytes apart, optimised or not, on x86-64 and SPARC). A pair of such calls with no event
 * between them is told; the host decides by debug information whether it is the compiler's or the program's own. (At -O2 one pair
 * serves all static loops of a region: the functions are declared const.)
 *
 * The runtime itself asks for these numbers inside an event, that is while its guard is taken: such calls pass through.
 */
#include "instr/probes.h"
#include "probes/local.h"
#include "probes/static_loop.h"

#define NEAR_BYTES 64u

int instr_probe_get_num_threads(int (*real)(void), uintptr_t site)
{
    struct instr_thread *const t = instr_self;
    if (t != NULL && !instr_is_busy(t->limit)) {
        instr_local.cursor = t->cursor;
        instr_local.site = site;
    }
    return real();
}

/* Apart, so that a number that no pair asks for costs no frame. */
static __attribute__((noinline)) int in_pair(int (*real)(void), uintptr_t site)
{
    struct instr_thread *const t = instr_self;
    if (t != NULL && !instr_is_busy(t->limit) && instr_local.cursor == t->cursor) {
        instr_local.cursor = NULL;
        if (site - instr_local.site <= NEAR_BYTES)
            instr_static_loop(t, site);
    }
    return real();
}

int instr_probe_get_thread_num(int (*real)(void), uintptr_t site)
{
    if (instr_local.cursor == NULL)
        return real();
    return in_pair(real, site);
}

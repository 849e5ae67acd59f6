/*
 * What probes ask the OpenMP library, where the runtime is in an object that is linked with none: a plain program, or libinstr.so. A library
 * that has constructs of OpenMP says where its OpenMP library is. This file is not in the archive: instr-cc adds it to such links.
 */
#include "library/table.h"

#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

#define GETTER(name, member, other)                                        \
    HIDDEN int name(void);                                                 \
    HIDDEN int name(void)                                                  \
    {                                                                      \
        const struct instr_getters *const g = instr_library_getters();     \
        return g != NULL && g->member != NULL ? g->member() : (other);     \
    }

GETTER(omp_get_thread_num, thread_num, 0)
GETTER(omp_get_num_threads, num_threads, 1)
GETTER(omp_get_team_num, team_num, 0)
GETTER(omp_get_num_teams, num_teams, 1)
GETTER(omp_get_num_devices, num_devices, 0)

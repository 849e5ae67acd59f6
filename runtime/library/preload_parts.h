/* What the parts of libinstr-preload.so share: library/preload.c, preload_runtime.c, preload_way.c, and preload_memory.c. */
#ifndef INSTR_LIBRARY_PRELOAD_PARTS_H
#define INSTR_LIBRARY_PRELOAD_PARTS_H

#include "library/preload.h"

#include <link.h>

#include "library/table.h"

struct instr_provider; /* an OpenMP library */
struct instr_cxx;      /* a C++ library */

/* A module of the process. */
struct instr_place {
    uintptr_t low;
    uintptr_t high;
    const struct link_map *map;              /* NULL: a call from no module */
    _Atomic uint32_t joins;                  /* *instr_preload_joins when it was looked at */
    bool own;                                /* its calls are recorded by stubs of its own, or come from the runtime */
    bool openmp;                             /* it is an OpenMP library */
    struct instr_provider *_Atomic provider; /* the OpenMP library that it sees, if it is known */
    struct instr_cxx *_Atomic cxx;           /* the C++ library that it sees, if it is known, and the process does not see one */
};

#pragma GCC visibility push(hidden)

/* ---- preload.c ---- */

enum { INSTR_PRELOAD_BEFORE, INSTR_PRELOAD_BEGINNING, INSTR_PRELOAD_BEGUN };

extern struct instr_library instr_preload_self;
extern atomic_int instr_preload_state;

/* Begins the trace, once. `from`: where OpenMP's functions are seen, NULL: by all of the process; `llvm`: they are libomp's. */
void instr_preload_begin(const struct link_map *from, bool llvm);

/* ---- preload_runtime.c ---- */

/* The table of libinstr.so, if that is loaded, by this library or by one that instr-cc linked; else NULL. */
const struct instr_table *instr_preload_runtime(void);

/* The same, loaded first if it is not there. NULL: it cannot be loaded. */
const struct instr_table *instr_preload_load(void);

/* Whether a module of the process other than this library defines the symbol. */
bool instr_preload_is_defined(const char *name);

/* ---- preload_way.c ---- */

/* Where the module of an address begins, or NULL. */
const void *instr_preload_base_of(const void *address);

/* The module that an address is in, or NULL. */
const struct link_map *instr_preload_map_of(uintptr_t address);

/*
 * A function by the name, as a module and its libraries see it, or (NULL) as all of the process does, behind this library. NULL: there is none
 * but this library's own.
 */
instr_function *instr_preload_see(const struct link_map *from, const char *name);

/* Whether a function is libomp's, which tells what it does by itself. `from` as above. */
bool instr_preload_is_llvm(instr_function *function, const struct link_map *from);

/* Looks up what teams call before there are any: dlsym() takes the loader's lock. `gomp`: all of the process sees libgomp. */
void instr_preload_find_all(bool gomp);

/* The module that a call comes from; `unknown`, filled in, where it is none or there is no room to remember it. */
struct instr_place *instr_preload_place_of(uintptr_t caller, struct instr_place *unknown);

/* The module itself, or one in whose sight the function is; NULL: there is none. */
const struct link_map *instr_preload_seer_of(const struct instr_place *place, const char *name);

/* ---- preload_memory.c ---- */

/* Whether this library stands in front of the heap's functions, and calls of these come to it: the process has no others in front of it. */
bool instr_preload_has_heap(void);

/* Whether it stands in front of them, and others stand in front of it. */
bool instr_preload_heap_is_foreign(void);

/* The runtime's probes are known: from now on calls of the heap are recorded. */
void instr_preload_record_heap(void);

#pragma GCC visibility pop

#endif

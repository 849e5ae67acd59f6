/* What the generated stubs of a shared library tell library/library.c: the probes they call. */
#ifndef INSTR_LIBRARY_NEEDS_H
#define INSTR_LIBRARY_NEEDS_H

#include <stdint.h>

/* A probe, and the stub's pointer to it, which is NULL as long as there is no runtime. */
struct instr_need {
    const char *name;
    void (**function)(void);
};

/* They end with one without name. */
extern const struct instr_need instr_needs[] __attribute__((visibility("hidden")));

/* A function of the runtime by its name (library/library.c); NULL: there is none. Looks for the runtime first, if that was not done yet. */
void (*instr_library_find(const char *name))(void);

/* INSTR_LIBRARY_… (library/table.h). */
extern const uint32_t instr_library_flags __attribute__((visibility("hidden")));

#endif

/*
 * The part of the runtime that is in each shared library: it finds the one runtime of the process and fills the pointers that the library's
 * stubs call through. This file is compiled and linked by instr-cc beside the stubs, and is not in the runtime's archive. Where there is no
 * runtime, or another version of it, the pointers stay NULL: stubs call the real functions, and the library is not traced.
 *
 * The program's runtime comes first; then libinstr.so, which somebody may have loaded already, whose path instr-cc told, and which may lie
 * where the dynamic linker looks.
 */
#define _GNU_SOURCE
#define INSTR_IMPLEMENTATION
#include "instr/instr.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "instr/probes.h"
#include "library/needs.h"
#include "library/program.h"
#include "library/table.h"
#include "library/trusted.h"

/* Where libinstr.so is, as instr-cc says. */
#ifndef INSTR_LIBRARY_PATH
#define INSTR_LIBRARY_PATH INSTR_SHARED_NAME
#endif

/* In the C library since glibc 2.34; before, a program that loads libraries is linked with it. */
#pragma weak dlmopen
#pragma weak dlsym

/* Of the OpenMP library that this library is linked with, if it is. */
extern int omp_get_thread_num(void) __attribute__((weak));
extern int omp_get_num_threads(void) __attribute__((weak));
extern int omp_get_team_num(void) __attribute__((weak));
extern int omp_get_num_teams(void) __attribute__((weak));
extern int omp_get_num_devices(void) __attribute__((weak));

extern const struct instr_static_config instr_config __attribute__((weak));

#define HIDDEN __attribute__((visibility("hidden")))

static const struct instr_table *table;
static struct instr_library self;

/* Whatever is called, the library's constructor has come before. */
#define INSTR_CALLS_BEGIN()
#define INSTR_CALLS_SHOWN HIDDEN
#include "library/calls.h"

/* Says why this library is not traced, to who asked for words. */
static void note(const char *why)
{
    const char *const verbose = secure_getenv("INSTR_VERBOSE");
    if (verbose == NULL || strcmp(verbose, "1") != 0)
        return;
    char line[512] = "instr: note: a library is not traced: ";
    strncat(line, why, sizeof line - strlen(line) - 2);
    strcat(line, "\n");
    const ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
}

/* libinstr.so's. It stays loaded to the end, whoever loaded it; in the first name space, so that there is one for all of dlmopen's. */
static const struct instr_table *of_library(void)
{
    if (dlmopen == NULL || dlsym == NULL || getauxval(AT_SECURE) != 0)
        return NULL;
    void *object = dlmopen(LM_ID_BASE, INSTR_SHARED_NAME, RTLD_NOW | RTLD_NOLOAD);
    if (object == NULL && instr_is_trusted(INSTR_LIBRARY_PATH, &self))
        object = dlmopen(LM_ID_BASE, INSTR_LIBRARY_PATH, RTLD_NOW);
    if (object == NULL)
        object = dlmopen(LM_ID_BASE, INSTR_SHARED_NAME, RTLD_NOW);
    if (object == NULL)
        return NULL;
    __typeof__(instr_shared_table) *shared;
    *(void **)&shared = dlsym(object, "instr_shared_table");
    return shared != NULL ? shared() : NULL;
}

/* Before the library's own constructors. */
__attribute__((constructor(101))) static void begin(void)
{
    static bool begun;
    if (begun) /* libomp came first */
        return;
    begun = true;
    const int error = errno;
    table = instr_table_of_program();
    if (table == NULL)
        table = of_library();
    if (table == NULL) {
        note("the program has no runtime, and " INSTR_LIBRARY_PATH " cannot be loaded");
    } else if (table->version != INSTR_TABLE_VERSION) {
        note("it was linked by another version of instr-cc than the program");
        table = NULL;
    } else {
        self.version = INSTR_TABLE_VERSION;
        self.flags = instr_library_flags;
        if (omp_get_thread_num != NULL)
            self.getters = (struct instr_getters){omp_get_thread_num, omp_get_num_threads, omp_get_team_num, omp_get_num_teams,
                                                  omp_get_num_devices};
        self.config = &instr_config;
        table->join(&self);
        instr_calls_find(table);
        for (const struct instr_need *need = instr_needs; need->name != NULL; need++)
            *need->function = table->find(need->name);
    }
    errno = error;
}

/* Behind the library's own destructors. */
__attribute__((destructor(101))) static void end(void)
{
    const int error = errno;
    if (table != NULL)
        table->leave(&self);
    table = NULL;
    errno = error;
}

HIDDEN void (*instr_library_find(const char *name))(void)
{
    begin();
    return table != NULL ? table->find(name) : NULL;
}

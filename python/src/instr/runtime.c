#define _GNU_SOURCE
#define INSTR_IMPLEMENTATION
#include "instr/instr.h"

#include "runtime.h"

#include <dlfcn.h>
#include <string.h>

#include "library/program.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define SHARED_NAME "libinstr.so." TEXT(INSTR_TABLE_VERSION)

struct instr_python_calls instr_calls;
static const struct instr_table *table;
static struct instr_library self;

/* The program's runtime, or that of a library which is loaded already. */
static const struct instr_table *present(void)
{
    const struct instr_table *const found = instr_table_of_program();
    if (found != NULL)
        return found;
    void *const object = dlopen(SHARED_NAME, RTLD_NOW | RTLD_NOLOAD);
    if (object == NULL)
        return NULL;
    const struct instr_table *(*shared)(void);
    *(void **)&shared = dlsym(object, "instr_shared_table");
    return shared != NULL ? shared() : NULL;
}

static const struct instr_table *loaded(const char *path)
{
    void *const object = path != NULL ? dlopen(path, RTLD_NOW) : NULL; /* it stays: it is linked so */
    const struct instr_table *(*shared)(void) = NULL;
    if (object != NULL)
        *(void **)&shared = dlsym(object, "instr_shared_table");
    return shared != NULL ? shared() : NULL;
}

/* False: it is too old. */
static bool find_calls(const struct instr_table *table)
{
    struct instr_python_calls calls;
    bool all = true;
#define FOUND(result, name, parameters) all = all && calls.name != NULL;
    INSTR_MARKS(INSTR_FIND)
    INSTR_TOLD(INSTR_FIND)
    INSTR_MARKS(FOUND)
    INSTR_TOLD(FOUND)
#undef FOUND
    if (all)
        instr_calls = calls;
    return all;
}

bool instr_runtime_is_there(void)
{
    return table != NULL || present() != NULL;
}

bool instr_runtime_join(const char *path, const char **why)
{
    if (table != NULL)
        return true;
    const struct instr_table *found = present();
    if (found == NULL)
        found = loaded(path);
    if (found == NULL) {
        *why = "the runtime, " SHARED_NAME ", is not there or cannot be loaded";
        return false;
    }
    if (found->version != INSTR_TABLE_VERSION || !find_calls(found)) {
        *why = "the runtime that is loaded belongs to another version of instr";
        return false;
    }
    self.version = INSTR_TABLE_VERSION;
    self.flags = INSTR_LIBRARY_PRELOADED; /* a trace without an event is of no use */
    found->join(&self);
    table = found;
    return true;
}

void instr_runtime_leave(void)
{
    if (table == NULL)
        return;
    const struct instr_table *const left = table;
    table = NULL;
    left->leave(&self);
}

/*
 * The runtime, libinstr.so, in a process with libinstr-preload.so (library/preload.c).
 *
 * Of the processes of `make` or of a script few record anything, and each would pay for loading it. So it is loaded when there is something to
 * record, or before the process gives up what is needed for that: its root folder or its rights. libinstr-preload-memory.so is linked with it.
 */
#define _GNU_SOURCE
#include "library/preload_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h> /* snprintf */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/scope.h"
#include "library/table.h"
#include "sinks/file_tree.h"

/* Longer paths are not loaded. */
#define PATH_BYTES 4096u

#pragma weak instr_shared_table

static const struct instr_table *_Atomic runtime;

/* This library's own; linkers make it. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct sought {
    const char *name;
    const struct link_map *in; /* the first module that defines it, or NULL */
    const ElfW(Sym) *symbol;
};

/* Called for the first module alone, and with the loader's lock: no module comes or goes meanwhile. */
static int look_through(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct sought *const sought = arg;
    (void)info;
    (void)bytes;
    for (const struct link_map *map = _r_debug.r_map; map != NULL && sought->in == NULL; map = map->l_next) {
        sought->symbol = map->l_ld != _DYNAMIC ? instr_definition(map, sought->name) : NULL;
        if (sought->symbol != NULL)
            sought->in = map;
    }
    return 1;
}

bool instr_preload_is_defined(const char *name)
{
    struct sought sought = {.name = name};
    (void)dl_iterate_phdr(look_through, &sought);
    return sought.in != NULL;
}

const struct instr_table *instr_preload_runtime(void)
{
    const struct instr_table *found = atomic_load_explicit(&runtime, memory_order_acquire);
    if (found != NULL)
        return found;
    __typeof__(&instr_shared_table) shared = instr_shared_table;
    struct sought sought = {.name = "instr_shared_table"};
    if (shared == NULL && dl_iterate_phdr(look_through, &sought) != 0 && sought.in != NULL)
        *(void **)&shared = instr_address_of(sought.in, sought.symbol);
    if (shared != NULL)
        atomic_store_explicit(&runtime, found = shared(), memory_order_release);
    return found;
}

/* Says that nothing is recorded, to who asked for words. */
static void say_missing(const char *path)
{
    const char *const verbose = secure_getenv("INSTR_VERBOSE");
    if (verbose == NULL || strcmp(verbose, "1") != 0)
        return;
    const char *const parts[] = {"instr: note: not traced: ", path, " cannot be loaded\n"};
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const ssize_t written = write(STDERR_FILENO, parts[i], strlen(parts[i]));
        (void)written;
    }
}

/*
 * The launcher finds a folder untraced-PID-ERROR where INSTR_TREE names (sinks/file_place.c does the same). Only where there is no descriptor for
 * the file, which dlopen() does not say: else a sandbox may have refused to open it, and may end the program for other calls.
 */
static void leave_reason(const char *file)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    char path[PATH_BYTES];
    if (fd >= 0 || (error != EMFILE && error != ENFILE) || instr_tree_folder(secure_getenv("INSTR_TREE"), path, sizeof path) == NULL)
        return;
    const size_t length = strlen(path);
    const int more = snprintf(path + length, sizeof path - length, "/untraced-%ld-%d", (long)getpid(), error);
    if (more > 0 && (size_t)more < sizeof path - length)
        (void)mkdirat(AT_FDCWD, path, S_IRWXU);
}

const struct instr_table *instr_preload_load(void)
{
    const struct instr_table *const loaded = instr_preload_runtime();
    const struct link_map *const own = instr_preload_map_of((uintptr_t)&instr_preload_self);
    const char *const slash = own != NULL ? strrchr(own->l_name, '/') : NULL;
    const size_t folder = slash != NULL ? (size_t)(slash + 1 - own->l_name) : 0;
    char path[PATH_BYTES];
    if (loaded != NULL || folder + sizeof INSTR_SHARED_NAME > sizeof path)
        return loaded;
    if (folder > 0)
        memcpy(path, own->l_name, folder);
    memcpy(path + folder, INSTR_SHARED_NAME, sizeof INSTR_SHARED_NAME);
    const bool before = instr_preload_looks;
    instr_preload_looks = true;
    if (dlopen(path, RTLD_NOW) == NULL) { /* it stays to the end: -z nodelete */
        leave_reason(path);
        (void)dlerror();                  /* the program is not to read of it */
        (void)dlerror();
        say_missing(path);
    }
    instr_preload_looks = before;
    return instr_preload_runtime();
}

/* ---- what a process gives up ---- */

/* A function of the C library behind this one; the runtime is loaded as long as it can be. */
static void *behind(const char *name)
{
    const int error = errno;
    (void)instr_preload_load();
    void *const real = dlsym(RTLD_NEXT, name);
    errno = error;
    return real;
}

#define SHOWN __attribute__((visibility("default")))

/* Without the function there is nobody who could call it. */
#define GIVES_UP(name, parameters, arguments)                    \
    SHOWN int name parameters                                    \
    {                                                            \
        int(*real) parameters;                                   \
        *(void **)&real = behind(#name);                         \
        return real != NULL ? real arguments : (errno = ENOSYS, -1); \
    }

GIVES_UP(chroot, (const char *path), (path))
GIVES_UP(setuid, (uid_t id), (id))
GIVES_UP(seteuid, (uid_t id), (id))
GIVES_UP(setreuid, (uid_t real_id, uid_t id), (real_id, id))
GIVES_UP(setresuid, (uid_t real_id, uid_t id, uid_t saved), (real_id, id, saved))
GIVES_UP(unshare, (int flags), (flags))
GIVES_UP(setns, (int descriptor, int kind), (descriptor, kind))

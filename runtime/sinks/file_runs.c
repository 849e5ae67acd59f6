/*
 * Earlier runs of a program: see file_runs.h.
 *
 * All names are looked up in the folder around the trace's, which is opened once for each call. Only the process that holds the lock of
 * the folder NAME renames it, so that of many that begin at once one does.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "sinks/file_runs.h"

#if INSTR_KEEPS_RUNS

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/config.h"
#include "core/registry.h"
#include "core/settings.h"
#include "core/text.h"
#include "platform/platform.h"
#include "sinks/file_place.h"
#include "sinks/sink.h"

#define NAME_BYTES 300u   /* longer than any name of a file */
#define MOST_RUNS 64u     /* earlier ones that are looked at; older ones are removed */
#define MOST_OLDER 8u     /* so many of them at a time */
#define MOST_NUMBERS 1000u
#define MOST_PROGRAM (256u << 20) /* bytes of an executable that a trace keeps */

static char before[NAME_BYTES]; /* the name that the run before has got; "": it has its own, or there is none */

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Opens the folder that `place` is in; `base` is its name there. */
static int open_parent(const char *place, const char **base)
{
    char path[INSTR_CFG_PATH_BYTES];
    const char *const slash = strrchr(place, '/');
    const size_t length = slash != NULL ? (size_t)(slash - place) : 0;
    if (slash == NULL || length + 2 > sizeof path)
        return -1;
    memcpy(path, place, length + 1);
    path[length + 1] = '\0';
    *base = slash + 1;
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The name of a run that is not the newest. */
static bool numbered(char name[NAME_BYTES], const char *base, uint64_t number)
{
    char digits[INSTR_DECIMAL_BYTES];
    name[0] = '\0';
    return instr_text_append(name, NAME_BYTES, base) && instr_text_append(name, NAME_BYTES, ".") &&
           instr_text_append(name, NAME_BYTES, instr_decimal(number, 1, digits));
}

static bool is_free(int parent, const char *name)
{
    struct stat status;
    return fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

/* Renames the folder `taken`, which is `base`, to the first free name from this number on; the number, or 0. A folder never takes another's place that holds anything. */
static uint64_t move(int parent, const char *base, uint64_t number, const struct stat *taken)
{
    struct stat status;
    for (unsigned i = 0; i < MOST_NUMBERS && numbered(before, base, number); i++, number++) {
        if (!is_free(parent, before))
            continue;
        if (renameat(parent, base, parent, before) == 0) {
            if (fstatat(parent, before, &status, AT_SYMLINK_NOFOLLOW) != 0 || same(&status, taken))
                return number;
            if (is_free(parent, base)) /* without locks, another run was faster: it is its new folder */
                (void)renameat(parent, before, parent, base);
            break;
        }
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
            break;
    }
    before[0] = '\0';
    return 0;
}

/* The number of the first run in a new folder: 1, unless older runs are there. */
static uint32_t first_number(const char *place)
{
    char name[NAME_BYTES];
    const char *base;
    const int parent = open_parent(place, &base);
    uint32_t number = 1;
    while (parent >= 0 && number < MOST_NUMBERS && numbered(name, base, number) && !is_free(parent, name))
        number++;
    close(parent);
    return number;
}

enum instr_run_before instr_runs_before(const char *place, const struct stat *taken, const char *head)
{
    const long said = instr_place_number(head, "\n    run = ");
    const uint32_t number = said > 0 ? (uint32_t)said : 1;
    const char *base;
    struct stat status;
    if (head[0] == '\0') {
        if (before[0] == '\0')
            instr_sink_run = first_number(place);
        return INSTR_RUN_REPLACED;
    }
    const bool empty = instr_place_number(head, "\n    empty = ") != 0;
    const int parent = open_parent(place, &base);
    const bool there = parent >= 0 && fstatat(parent, base, &status, AT_SYMLINK_NOFOLLOW) == 0 && same(&status, taken);
    if (there && (instr_settings.keep == 0 || empty)) {
        instr_sink_run = empty ? number : number + 1;
        close(parent);
        return INSTR_RUN_REPLACED;
    }
    const bool here = stat(".", &status) == 0 && same(&status, taken); /* who works in a folder does not want it renamed */
    const uint64_t moved = there && !here ? move(parent, base, number, taken) : 0;
    close(parent);
    if (moved != 0) {
        instr_sink_run = (uint32_t)moved + 1;
        return INSTR_RUN_MOVED;
    }
    if (there)
        instr_sink_trouble = "the trace has another name, or none: the earlier one cannot be renamed (INSTR_KEEP=0 replaces it)";
    return INSTR_RUN_STUCK;
}

void instr_runs_back(const char *place)
{
    const char *base;
    const int parent = open_parent(place, &base);
    if (parent >= 0 && before[0] != '\0' && is_free(parent, base))
        (void)renameat(parent, before, parent, base);
    before[0] = '\0';
    close(parent);
}

/* ---- removing runs ---- */

/* Whether the run with this metadata had the same arguments. */
static bool same_arguments(const char *head)
{
    static const char KEY[] = "\n    arguments = \"";
    const char *mine = instr_platform_arguments();
    return strstr(head, KEY) != NULL ? instr_place_is_text(head, KEY, mine) : mine[0] == '\0';
}

/* Removes the trace in the folder `name`, unless it holds anything else, or somebody still writes there. */
static void remove_trace(int parent, const char *name, int in)
{
    if (instr_place_look(in, 0, false) != CONTENT_OURS || instr_place_has_writers(in, 0))
        return;
    const int fd = instr_place_open_ours(in, ".lock", O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
    const bool free = fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
    if (free)
        (void)instr_place_look(in, 0, true);
    close(fd); /* before its name goes: NFS keeps a file that is open, by another name */
    if (!free)
        return;
    (void)unlinkat(in, ".lock", 0);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0 && instr_settings.verbose) {
        instr_platform_say("instr: note: removed: ");
        instr_platform_say(name);
        instr_platform_say("\n");
    }
}

/* Opens the folder of an earlier run of the program, and reads the begin of its metadata; -1: it is none, or not this user's alone. */
static int open_run(int parent, const char *name, const char *program, char head[INSTR_HEAD_BYTES])
{
    struct stat status;
    const int in = instr_place_enter(parent, name, &status);
    if (in >= 0 && (status.st_uid != geteuid() || (status.st_mode & INSTR_WRITE_BY_OTHERS) != 0 || !instr_place_is_earlier(in, program, head))) {
        close(in);
        return -1;
    }
    return in;
}

/* Of each command line INSTR_KEEP earlier runs stay; of all together those that are among the last MOST_RUNS. */
static void remove_older(int parent, const char *base, const char *program)
{
    const uint64_t keep = instr_settings.keep;
    const uint64_t most = keep < MOST_RUNS ? MOST_RUNS : keep;
    char name[NAME_BYTES];
    char head[INSTR_HEAD_BYTES];
    uint64_t alike = 0;
    if (instr_sink_run <= keep + 1)
        return; /* all there are may stay */
    for (uint64_t back = 1; back <= most + MOST_OLDER && back < instr_sink_run && numbered(name, base, instr_sink_run - back); back++) {
        const int in = open_run(parent, name, program, head);
        if (in < 0)
            continue;
        alike += same_arguments(head);
        if (back > most || alike > keep)
            remove_trace(parent, name, in);
        if (alike > keep)
            alike = keep; /* the next one alike is too many, the next one of others is not */
        close(in);
    }
}

/* ---- the new run ---- */

/*
 * The program's file, by another name in the trace: its names can be read after it was built again, since linkers make a new file. A link takes
 * no room before that. Nobody has to trust it: the host takes it for what its build id says.
 */
static void carry_program(int in)
{
    char path[INSTR_CFG_PATH_BYTES];
    struct stat status;
    if (!instr_platform_executable(path, sizeof path) || stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > (off_t)MOST_PROGRAM)
        return;
    if (linkat(AT_FDCWD, path, in, ".binary_0", 0) != 0)
        return; /* another disk, or not permitted: names are read from the program's own file */
}

void instr_runs_begin(const char *place, int in, const char *program)
{
    const char *base;
    carry_program(in);
    if (before[0] == '\0')
        return;
    const int parent = open_parent(place, &base);
    if (parent >= 0)
        remove_older(parent, base, program);
    close(parent);
}

/* Removes the folder `taken`, whose lock this process holds, and which nobody has begun to use otherwise. */
static void vanish_from(int parent, const char *base, const struct stat *taken)
{
    struct stat status;
    const int in = instr_place_enter(parent, base, &status);
    if (in >= 0 && same(&status, taken) && instr_place_look(in, 0, false) == CONTENT_OURS) {
        (void)instr_place_look(in, 0, true);
        (void)unlinkat(in, ".lock", 0);
        (void)unlinkat(parent, base, AT_REMOVEDIR);
    }
    close(in);
}

void instr_runs_give_way(const char *place, const struct stat *taken, bool vanish)
{
    char name[NAME_BYTES];
    char head[INSTR_HEAD_BYTES];
    const char *base;
    struct stat status;
    if (vanish) {
        const int around = open_parent(place, &base);
        if (around >= 0)
            vanish_from(around, base, taken);
        close(around);
        instr_runs_back(place);
        return;
    }
    const int parent = before[0] != '\0' ? open_parent(place, &base) : -1;
    name[0] = '\0';
    if (parent >= 0 && instr_text_append(name, sizeof name, base) && instr_text_append(name, sizeof name, ".empty") &&
        fstatat(parent, base, &status, AT_SYMLINK_NOFOLLOW) == 0 && same(&status, taken)) {
        /* Its name from the begin: of a file that was built again since, the system says another one. */
        const char *const program = instr_registry.has_executable ? strrchr(instr_registry.executable, '/') : NULL;
        const int in = program != NULL ? open_run(parent, name, program + 1, head) : -1;
        if (in >= 0)
            remove_trace(parent, name, in);
        close(in);
        if (is_free(parent, name) && renameat(parent, base, parent, name) == 0 && is_free(parent, base))
            (void)renameat(parent, before, parent, base);
    }
    close(parent);
}

#endif

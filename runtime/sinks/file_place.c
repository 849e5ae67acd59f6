/*
 * The folder of a trace: see file_place.h.
 *
 * No descriptor is kept open between calls except the one that holds the folder's lock: the guest may close every descriptor it does not
 * know, and may need all it is allowed. So the folder is opened for each call and must still be the one that was taken: the same device,
 * inode and owner. Its path is absolute, so the guest may change its directory.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "sinks/file_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/config.h"
#include "core/text.h"
#include "core/thread.h"
#include "platform/platform.h"
#include "sinks/file_runs.h"
#include "sinks/file_tree.h"
#include "sinks/sink.h"

#define NAME_BYTES 32u
#define MOST_NAMES 1000u
#define MOST_ATTEMPTS 100u
#define MOST_BEGINNING 60 /* seconds */
#define MOST_NESTED 16u /* traces of children in those of children */
#define READ_BY_OTHERS (S_IRGRP | S_IROTH)
#define LOOK_BY_OTHERS (READ_BY_OTHERS | S_IXGRP | S_IXOTH)
#if INSTR_KEEPS_RUNS
#define STANDARD 3  /* descriptors below are standard input, output and errors, also where the program has closed them */
#define LOCK_FD 63 /* the lock's descriptor, where the program may have so many: the last one that takes no room of the kernel's */
#define THREAD_FD 32 /* the first one of the threads' files while they are written, and how many there are; the next one is the metadata's */
#define THREAD_FDS 30
#endif

static char place[INSTR_CFG_PATH_BYTES];
static struct stat taken; /* the folder, as it was when it was taken */
static int lock_fd = -1;
#if INSTR_KEEPS_RUNS
static int error; /* why the place could not be made or opened; 0: it could */
static bool was_there; /* the place was opened, and not removed by this process */
#endif

/* Behind the first words stands the reason alone. */
#define OTHER_NAME "the trace has another name: "
static const char OTHER_NAME_UNSAFE[] =
    OTHER_NAME "its place is not a directory that this user owns and nobody else may write to";
#define UNSAFE (OTHER_NAME_UNSAFE + sizeof OTHER_NAME - 1)

/*
 * APART: what looks at a file is not a part of its callers. Its frame is large, and none is to be on the stack while a function of the C library
 * that takes much of it is called.
 */
#if INSTR_KEEPS_RUNS
#define FOR_RUNS /* sinks/file_runs.c uses it as well */
#define APART __attribute__((noinline))
#else
#define FOR_RUNS static
#define APART
#endif

/* `digits`: the fewest. */
static bool append_number(char *path, size_t bytes, uint32_t value, unsigned digits)
{
    char number[INSTR_DECIMAL_BYTES];
    return instr_text_append(path, bytes, instr_decimal(value, digits, number));
}

#define DIGITS "0123456789"

/* `prefix`, and only these characters behind it. */
static bool is_numbered(const char *name, const char *prefix, const char *digits)
{
    const size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    name += length;
    return name[0] != '\0' && name[strspn(name, digits)] == '\0';
}

/* Files of a trace directory, beside its lock. Those of processors and series are the launcher's (instr run). */
static bool is_ours(const char *name)
{
    return strcmp(name, "metadata") == 0 || is_numbered(name, "thread_", DIGITS) || is_numbered(name, "switches_", DIGITS) ||
           is_numbered(name, ".window_", DIGITS) ||
           (INSTR_KEEPS_RUNS && (is_numbered(name, "processor_", DIGITS) || is_numbered(name, "series_", DIGITS)));
}

/* Folders in one: traces of forked children and of programs that were started, and what the launcher recorded of the processors. */
static bool is_folder_of_ours(const char *name)
{
    return is_numbered(name, "fork-", DIGITS "-") ||
           (INSTR_KEEPS_RUNS && (is_numbered(name, "exec-", DIGITS "-") || strcmp(name, "kernel") == 0));
}

/* The same; without a metadata they are nothing, but what a run left that was killed before it had one. */
static bool is_ours_beside(const char *name)
{
    return strcmp(name, ".metadata.new") == 0 || is_numbered(name, ".binary_", DIGITS) ||
           (INSTR_HAS_TAKEOVER && is_numbered(name, ".discarded_", DIGITS));
}

/* ---- the folder ---- */

static int open_folder(int parent, const char *name)
{
    return openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

FOR_RUNS int instr_place_enter(int parent, const char *name, struct stat *status)
{
    const int fd = open_folder(parent, name);
    if (fd >= 0 && fstat(fd, status) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

APART static bool is_taken(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == taken.st_dev && status.st_ino == taken.st_ino && status.st_uid == taken.st_uid;
}

/* The folder that was taken, if it is still there; else -1. */
static int folder(void)
{
    const int fd = place[0] != '\0' ? open_folder(AT_FDCWD, place) : -1;
    if (fd >= 0 && !is_taken(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

/*
 * Makes the directory `name` in `parent`, or opens the one that is there; -1: neither. It is a real one, of the effective user, and nobody
 * else can put anything into it. The owner can use what is made whatever the program's mask is; it is named by its descriptor then, for
 * its name may be another's by now.
 */
static int enter(int parent, const char *name, mode_t mode, bool *made)
{
    char path[NAME_BYTES] = "/proc/self/fd/";
    int fd;
    unsigned attempts = 0;
    bool is_there;
    do { /* again, where it was there and is gone: other processes rename theirs, and remove empty ones */
        *made = mkdirat(parent, name, mode) == 0;
        is_there = *made || errno == EEXIST;
        fd = is_there ? instr_place_enter(parent, name, &taken) : -1;
    } while (INSTR_KEEPS_RUNS && fd < 0 && is_there && errno == ENOENT && attempts++ < MOST_ATTEMPTS);
#if INSTR_KEEPS_RUNS
    error = fd < 0 ? errno : 0;
#endif
    if (fd < 0 ? errno == ENOTDIR : taken.st_uid != geteuid() || (taken.st_mode & INSTR_WRITE_BY_OTHERS) != 0) {
        instr_sink_trouble = UNSAFE;
        close(fd);
        return -1;
    }
    if (*made && (taken.st_mode & S_IRWXU) != S_IRWXU && append_number(path, sizeof path, (uint32_t)fd, 1))
        (void)chmod(path, (taken.st_mode & 07777) | S_IRWXU);
    return fd;
}

FOR_RUNS enum instr_content instr_place_look(int in, unsigned depth, bool clear)
{
    enum instr_content found = CONTENT_EMPTY;
    const int fd = openat(in, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const d = fd >= 0 ? fdopendir(fd) : NULL;
    if (d == NULL) {
#if INSTR_KEEPS_RUNS
        error = errno;
#endif
        close(fd);
        return CONTENT_FOREIGN;
    }
    for (const struct dirent *e = readdir(d); e != NULL && found != CONTENT_FOREIGN; e = readdir(d)) {
        const char *const name = e->d_name;
        struct stat status;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".lock") == 0)
            continue;
        const bool beside = is_ours_beside(name);
        if (!clear && beside)
            continue;
        const bool child = is_folder_of_ours(name);
        found = child || beside || is_ours(name) ? CONTENT_OURS : CONTENT_FOREIGN;
        if (!clear)
            continue;
        const int inner = child && depth < MOST_NESTED ? instr_place_enter(in, name, &status) : -1;
        if (inner >= 0) {
            (void)instr_place_look(inner, depth + 1, true);
            close(inner);
        }
        if (found == CONTENT_OURS)
            (void)unlinkat(in, name, child ? AT_REMOVEDIR : 0);
    }
    closedir(d);
    return found;
}

/* ---- files ---- */

/* Whether it is a regular file; one that may have been made here is given to its owner. */
APART static bool is_file(int fd, bool made)
{
    const mode_t owner = S_IRUSR | S_IWUSR;
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    if (made && (status.st_mode & owner) != owner)
        (void)fchmod(fd, (status.st_mode & 07777) | owner); /* refused for a file of another user: it is as it was */
    return true;
}

FOR_RUNS int instr_place_open_ours(int in, const char *name, int flags, mode_t mode)
{
    const int fd = openat(in, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
    if (fd >= 0 && !is_file(fd, (flags & O_CREAT) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

#if INSTR_KEEPS_RUNS
/*
 * Opens a file of the trace, in the folder `in`, which takes the numbers of standard input, output and errors meanwhile where the program has
 * closed these. In a turn.
 */
static int open_behind_standard(int in, const char *name, int flags, mode_t mode)
{
    int numbers[STANDARD] = {-1, -1, -1};
    int last = in;
    if (in < STANDARD)
        instr_platform_turns_needed();
    for (unsigned i = 0; i < STANDARD && last >= 0 && last < STANDARD; i++)
        last = numbers[i] = fcntl(in, F_DUPFD_CLOEXEC, 0);
    int fd = instr_place_open_ours(in, name, flags, mode);
    if (fd >= 0 && fd < STANDARD) { /* another descriptor had the number, and was closed in this moment */
        const int low = fd;
        fd = fcntl(low, F_DUPFD_CLOEXEC, STANDARD);
        close(low);
    }
    for (unsigned i = 0; i < STANDARD && numbers[i] >= 0; i++)
        close(numbers[i]);
    return fd;
}
#else
#define open_behind_standard instr_place_open_ours
#endif

#if INSTR_KEEPS_RUNS
/*
 * Which file a descriptor is of; with `name` it is a folder's, and which file has this name there. With `bytes` it must be a regular file, which
 * is so long.
 */
APART static bool identify(int fd, const char *name, struct instr_file_id *to, off_t *bytes)
{
    struct stat status;
    if ((name != NULL ? fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) : fstat(fd, &status)) != 0 || (bytes != NULL && !S_ISREG(status.st_mode)))
        return false;
    to->device = status.st_dev;
    to->inode = status.st_ino;
    if (bytes != NULL)
        *bytes = status.st_size;
    return true;
}

static bool is_same(const struct instr_file_id *a, const struct instr_file_id *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Inline: stack below a full buffer is dear. */
static inline __attribute__((always_inline)) bool is_of(int fd, const struct instr_file_id *file, off_t *bytes)
{
    struct instr_file_id now;
    return identify(fd, NULL, &now, bytes) && is_same(&now, file);
}

bool instr_place_is(int fd, const struct instr_file_id *file, off_t *bytes)
{
    return is_of(fd, file, bytes);
}

static bool are_comparable; /* open files have the numbers that their names have: not every file system does that */

/* Closes a descriptor that is still of this file; the program may have closed it, and opened another one under its number. */
static inline __attribute__((always_inline)) void close_if(int fd, const struct instr_file_id *file)
{
    if (is_of(fd, file, NULL))
        close(fd);
}

/* The folder that was opened. */
static void leave(int in)
{
    const struct instr_file_id file = {taken.st_dev, taken.st_ino};
    close_if(in, &file);
}

/*
 * A file gets a number of its thread's own. Where the program closes all descriptors beside us, neither another thread's file nor one of the
 * program's then has the number in the next moment, and hardly a packet goes there. -1: what was opened is closed already, or the name is of
 * another file.
 */
static int of_thread(int fd, int in, const char *name, uint32_t number, struct instr_file_id *file)
{
    struct instr_file_id named;
    struct instr_file_id opened;
    int mine = fcntl(fd, F_DUPFD_CLOEXEC, THREAD_FD + (int)(number != UINT32_MAX ? number % THREAD_FDS : THREAD_FDS));
    if (mine < 0 || !identify(mine, NULL, &opened, NULL)) {
        mine = fd; /* there is no other number, or it was closed at once */
        if (!identify(mine, NULL, &opened, NULL))
            return -1;
    }
    bool is_known = identify(in, name, &named, NULL);
    if (!is_known) { /* the folder is closed already */
        const int again = folder();
        is_known = identify(again, name, &named, NULL);
        leave(again);
    }
    if (is_known && is_same(&named, &opened)) {
        __atomic_store_n(&are_comparable, true, __ATOMIC_RELAXED);
    } else if (__atomic_load_n(&are_comparable, __ATOMIC_RELAXED)) {
        if (mine != fd)
            close(mine);
        return -1;
    }
    if (mine != fd)
        close_if(fd, &opened);
    *file = opened;
    return mine;
}

#else
#define of_thread(fd, in, name, number, file) ((void)(file), (fd))
#define leave(in) close(in)
#endif

int instr_place_file(const char *name, uint32_t number, enum instr_file_use use, struct instr_file_id *opened)
{
    char file[NAME_BYTES];
    file[0] = '\0';
    const bool fits = instr_text_append(file, sizeof file, name) && (number == UINT32_MAX || append_number(file, sizeof file, number, 4));
    const bool had_turn = instr_platform_turn_begin();
    const int in = fits ? folder() : -1;
    int fd = -1;
    if (in < 0) {
        instr_platform_turn_end(had_turn);
        return -1;
    }
    /* Who may read the folder may read the trace. */
    const mode_t mode = (mode_t)(S_IRUSR | S_IWUSR | (use == INSTR_FILE_PRIVATE ? 0 : taken.st_mode & READ_BY_OTHERS));
    if (use != INSTR_FILE_APPEND)
        (void)unlinkat(in, file, 0);
    if (use != INSTR_FILE_NONE)
        fd = open_behind_standard(in, file, O_CREAT | O_RDWR | (use == INSTR_FILE_APPEND ? O_APPEND : O_EXCL), mode);
    if (fd >= 0)
        fd = of_thread(fd, in, file, number, opened);
    leave(in);
    instr_platform_turn_end(had_turn);
    return fd;
}

bool instr_place_rename(const char *from, const char *to)
{
    const bool had_turn = instr_platform_turn_begin();
    const int in = folder();
    const bool ok = in >= 0 && renameat(in, from, in, to) == 0;
    leave(in);
    instr_platform_turn_end(had_turn);
    return ok;
}

/* ---- taking a folder ---- */

FOR_RUNS bool instr_place_is_text(const char *text, const char *key, const char *value)
{
    const char *found = strstr(text, key);
    if (found == NULL)
        return false;
    found += strlen(key);
#if INSTR_KEEPS_RUNS
    for (; *value != '\0'; value++, found++) {
        const unsigned char c = (unsigned char)*value;
        if (*found == '\\')
            found++;
        if (*found != (c < 0x20 || c == 0x7f ? '?' : *value))
            return false;
    }
    return *found == '"';
#else /* where code size counts, names that are quoted are not known again */
    const size_t length = strlen(value);
    return strncmp(found, value, length) == 0 && found[length] == '"';
#endif
}

FOR_RUNS long instr_place_number(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    long value = 0;
    for (const char *p = found != NULL ? found + strlen(key) : ""; *p >= '0' && *p <= '9' && value < 100000000; p++)
        value = value * 10 + (*p - '0');
    return value;
}

/* Reads the begin of a trace's metadata. */
static bool read_head(int in, char head[INSTR_HEAD_BYTES])
{
    const int fd = instr_place_open_ours(in, "metadata", O_RDONLY, 0);
    if (fd < 0)
        return false;
    const ssize_t count = read(fd, head, INSTR_HEAD_BYTES - 1);
    close(fd);
    if (count <= 0)
        return false;
    head[count] = '\0';
    return true;
}

static bool is_written(const char *head)
{
    const pid_t pid = (pid_t)instr_place_number(head, "\n    pid = ");
    return strstr(head, "\n    closed = 0;") != NULL && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

FOR_RUNS bool instr_place_is_earlier(int in, const char *program, char head[INSTR_HEAD_BYTES])
{
    return read_head(in, head) && instr_place_is_text(head, "\n    program = \"", program) && !is_written(head);
}

#if INSTR_KEEPS_RUNS
/* Apart: the head is on the stack for no longer. */
APART static bool is_folder_written(int in)
{
    char head[INSTR_HEAD_BYTES];
    return read_head(in, head) && is_written(head);
}

bool instr_place_has_writers(int in, unsigned depth)
{
    bool found = false;
    const int fd = openat(in, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const d = fd >= 0 ? fdopendir(fd) : NULL;
    if (d == NULL) {
        close(fd);
        return true; /* it cannot be excluded */
    }
    for (const struct dirent *e = readdir(d); e != NULL && !found; e = readdir(d)) {
        struct stat status;
        const char *const dash = strchr(e->d_name, '-');
        if (dash == NULL || !is_folder_of_ours(e->d_name))
            continue;
        const long pid = instr_place_number(dash, "-");
        const bool may_write = pid > 0 && (pid_t)pid != getpid() && kill((pid_t)pid, 0) == 0;
        /* 2: there is no folder in it */
        const bool nests = depth < MOST_NESTED && fstatat(in, e->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_nlink != 2;
        const int inner = may_write || nests ? instr_place_enter(in, e->d_name, &status) : -1;
        if (inner < 0)
            continue;
        found = (may_write && is_folder_written(inner)) || (nests && instr_place_has_writers(inner, depth + 1));
        close(inner);
    }
    closedir(d);
    return found;
}
#endif

#if INSTR_KEEPS_RUNS
/* The lock stays open: with a number that the program does not count on, and none of those that it may write to blindly. */
static int out_of_the_way(int fd)
{
    int other = -1;
    for (int least = LOCK_FD; other < 0 && least >= STANDARD; least /= 4)
        other = fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (other >= 0)
        close(fd);
    return other >= 0 ? other : fd;
}
#endif

#if INSTR_KEEPS_RUNS
/* Whether a file is older than what a run needs from its lock to its metadata. */
APART static bool is_old(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_mtime + MOST_BEGINNING < time(NULL);
}
#else
#define is_old(fd) true
#endif

/*
 * Without locks only who made the lock's file takes an empty folder: a run that has just begun there has nothing else in it for a while. What was
 * killed then leaves it so.
 */
static int open_lock(int in, bool *first)
{
#if INSTR_KEEPS_RUNS
    const int fd = instr_place_open_ours(in, ".lock", O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    *first = fd >= 0;
    if (fd >= 0 || errno != EEXIST)
        return fd;
#else
    *first = true;
#endif
    return instr_place_open_ours(in, ".lock", O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
}

/* Whether the trace in a folder, whose lock this process holds, is an earlier one, and nobody writes there: children may have lost the lock. */
static bool is_over(int in, const char *program, char head[INSTR_HEAD_BYTES])
{
#if INSTR_KEEPS_RUNS
    return instr_place_is_earlier(in, program, head) && !instr_place_has_writers(in, 0);
#else
    return instr_place_is_earlier(in, program, head);
#endif
}

/*
 * Takes an open folder: it must be empty, or hold an earlier trace of the same program, and no other process writes there. Where that trace is
 * kept, the folder has got another name and was not taken: *moved is the descriptor of its lock, which is held until a new one was taken.
 */
static bool take_folder(int in, const char *program, int *moved)
{
    char head[INSTR_HEAD_BYTES];
    if (instr_place_look(in, 0, false) == CONTENT_FOREIGN)
        return false;
    bool first;
    const int fd = open_lock(in, &first);
    if (fd < 0) {
#if INSTR_KEEPS_RUNS
        error = errno;
#endif
        return false;
    }
    const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    const bool free = locked || errno != EWOULDBLOCK; /* not every file system has locks */
    const enum instr_content now = free ? instr_place_look(in, 0, false) : CONTENT_FOREIGN;
    if (now == CONTENT_FOREIGN || (now == CONTENT_OURS && !is_over(in, program, head)) || (now == CONTENT_EMPTY && !locked && !first && !is_old(fd))) {
        close(fd);
        return false;
    }
#if INSTR_KEEPS_RUNS
    const enum instr_run_before before = instr_runs_before(place, &taken, now == CONTENT_OURS ? head : "");
    if (before != INSTR_RUN_REPLACED) {
        *moved = before == INSTR_RUN_MOVED ? fd : -1;
        if (before != INSTR_RUN_MOVED)
            close(fd);
        return false;
    }
#else
    (void)moved;
#endif
    (void)instr_place_look(in, 0, true);
#if INSTR_KEEPS_RUNS
    lock_fd = out_of_the_way(fd);
#else
    lock_fd = fd;
#endif
    return true;
}

#if INSTR_KEEPS_RUNS
/* Who could read the folder of the run before may read this one, which has the same group. */
static void open_to_readers(int in, const struct stat *before)
{
    char path[NAME_BYTES] = "/proc/self/fd/";
    const mode_t mode = (mode_t)(taken.st_mode & 07777) | (before->st_mode & LOOK_BY_OTHERS);
    if (mode != (taken.st_mode & 07777) && taken.st_gid == before->st_gid && append_number(path, sizeof path, (uint32_t)in, 1) && chmod(path, mode) == 0)
        taken.st_mode |= before->st_mode & LOOK_BY_OTHERS;
}
#endif

#if INSTR_KEEPS_RUNS
static bool lacks_descriptors(void)
{
    return error == EMFILE || error == ENFILE;
}
#endif

/* Takes the directory `place` for this process. */
static bool take_place(const char *program)
{
    int moved = -1;
    bool made;
    int in = enter(AT_FDCWD, place, S_IRWXU, &made);
    bool ok = in >= 0 && take_folder(in, program, &moved);
#if INSTR_KEEPS_RUNS
    was_there = in >= 0;
    if (moved >= 0) {
        const int lock = moved;
        const struct stat before = taken;
        close(in);
        in = enter(AT_FDCWD, place, S_IRWXU, &made);
        if (made)
            open_to_readers(in, &before);
        ok = in >= 0 && take_folder(in, program, &moved);
        if (!ok && made)
            (void)rmdir(place);
        made = false;
        if (!ok)
            instr_runs_back(place);
        close(lock);
        if (moved != lock)
            close(moved); /* yet another run was over, in this moment */
    }
    if (ok)
        instr_runs_begin(place, in, program);
#endif
#if INSTR_KEEPS_RUNS
    if (!ok && made && lacks_descriptors())
        (void)unlinkat(in, ".lock", 0); /* the folder was made for nothing */
#endif
    close(in);
    if (!ok && made && rmdir(place) == 0) {
#if INSTR_KEEPS_RUNS
        was_there = error == ENOENT || (error == 0 && in >= 0); /* another process had it, or moved it, in this moment */
#endif
    }
    return ok;
}

#if INSTR_KEEPS_RUNS
void instr_place_give_way(bool vanish)
{
    const int in = folder();
    if (in >= 0)
        instr_runs_give_way(place, &taken, vanish);
    close(in);
}
#endif

/* Whether another name may help: no trace of ours could be made at the first one, but something is there. */
static bool another_name_helps(uint32_t attempt)
{
    struct stat status;
#if INSTR_KEEPS_RUNS
    if (lacks_descriptors())
        return false;
#endif
    if (lstat(place, &status) != 0) {
#if INSTR_KEEPS_RUNS
        return was_there; /* it was another process's, which gives it another name in this moment; else it cannot be made at all */
#else
        return false;
#endif
    }
    return attempt > 1 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() || access(place, W_OK) == 0 /* it can be written */
           || (INSTR_KEEPS_RUNS && errno == ENOENT); /* it has another name by now */
}

#if INSTR_KEEPS_RUNS
/* The launcher's folder, in `place`, as instr_tree_folder(). */
static const char *enter_tree(void)
{
    return instr_tree_folder(instr_platform_getenv("INSTR_TREE"), place, sizeof place);
}

static bool is_runs_own(void)
{
    return instr_place_number(instr_platform_getenv("INSTR_TREE"), "") == (long)getppid();
}

/* `place` is where `instr run` was typed: its own process, which may have gone to another folder since, leaves its trace there. */
static bool enter_launchers_folder(void)
{
    const char *const end = enter_tree();
    char *const name = end != NULL && end[2] == '\0' && is_runs_own() ? strrchr(place, '/') : NULL;
    if (name != NULL)
        name[1] = '\0';
    return name != NULL;
}
#endif

/* The absolute path of the first place, which may be the only one, in `place`. */
static bool first_place(const char *wanted, const char *program)
{
    place[0] = '\0';
    bool is_absolute = wanted != NULL && wanted[0] == '/';
#if INSTR_KEEPS_RUNS
    is_absolute = is_absolute || (wanted == NULL && enter_launchers_folder());
    errno = ERANGE; /* of what fails without a reason */
#endif
    if (!is_absolute &&
        (getcwd(place, sizeof place) == NULL || !instr_text_append(place, sizeof place, "/")))
        return false;
    return instr_text_append(place, sizeof place, wanted != NULL ? wanted : program) &&
           (wanted != NULL || instr_text_append(place, sizeof place, ".instr"));
}

/* Cuts off what adds nothing to a path: "/" and "/." at its end. Its length. */
static size_t trim_place(void)
{
    size_t length = strlen(place);
    while (length > 1 && (place[length - 1] == '/' || (INSTR_KEEPS_RUNS && place[length - 1] == '.' && place[length - 2] == '/')))
        length--;
    if (INSTR_KEEPS_RUNS) /* elsewhere the first attempt's name ends there */
        place[length] = '\0';
    return length;
}

/* The place's name, of `length` bytes, for an attempt to make it: NAME, NAME-2, NAME-3 … */
static bool name_attempt(size_t length, uint32_t attempt)
{
    place[length] = '\0';
    return attempt == 1 || (instr_text_append(place, sizeof place, "-") && append_number(place, sizeof place, attempt, 1));
}

/* Makes the directories that the place is to be in, as far as they are missing. */
static void make_parents(void)
{
    for (char *at = place + 1; (at = strchr(at, '/')) != NULL && at[1] != '\0'; at++) {
        *at = '\0';
        (void)mkdir(place, S_IRWXU | S_IRWXG | S_IRWXO);
        *at = '/';
    }
}

/* Why the system refused, as people know it. */
#if INSTR_KEEPS_RUNS
static const char *refusal(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "the trace directory cannot be made: permission denied";
    case EROFS:
        return "the trace directory cannot be made: the file system is read-only";
    case ENOSPC:
    case EDQUOT:
        return "the trace directory cannot be made: no space is left";
    case ENOTDIR:
        return "the trace directory cannot be made: what it is to be in is no directory";
    case EMFILE:
    case ENFILE:
        return "the trace directory cannot be made: too few descriptors are allowed";
    case ENAMETOOLONG:
        return "the trace directory cannot be made: the name is too long";
    default:
        return "the trace directory cannot be made";
    }
}
#endif

#if INSTR_KEEPS_RUNS
/* The launcher finds a folder untraced-PID-ERROR, and says why this process has no trace. To make it takes no descriptor. */
static void leave_reason(void)
{
    if (enter_tree() != NULL && instr_text_append(place, sizeof place, "/untraced-") && append_number(place, sizeof place, (uint32_t)getpid(), 1) &&
        instr_text_append(place, sizeof place, "-") && append_number(place, sizeof place, (uint32_t)error, 1))
        (void)mkdirat(AT_FDCWD, place, S_IRWXU); /* as the trace's folder is made: a sandbox may end programs for other calls */
}

/*
 * A program that another one started, below `instr run`: its trace is exec-PID in a folder that the launcher made, and puts into the trace of the
 * run when that is over. Who sets another INSTR_TRACE than the launcher's means that.
 * False: this is the run's own process, there is no such folder any more, or no run.
 */
static bool open_in_tree(const char *wanted, const char *program)
{
    const char *const end = enter_tree();
    if (end == NULL || strcmp(end + 2, wanted != NULL ? wanted : "") != 0 ||
        is_runs_own() || !instr_text_append(place, sizeof place, "/exec-") ||
        !append_number(place, sizeof place, (uint32_t)getpid(), 1))
        return false;
    struct stat status;
    const size_t length = strlen(place);
    for (uint32_t attempt = 1; attempt < MOST_NAMES && name_attempt(length, attempt); attempt++)
        if (lstat(place, &status) != 0) /* the number of an ended process may be used again */
            return take_place(program);
    return false;
}
#endif

bool instr_place_open(const char *wanted, const char *program)
{
#if INSTR_KEEPS_RUNS
    for (int fd = 0; fd < STANDARD; fd++) /* while there is one thread */
        if (fcntl(fd, F_GETFD) < 0)
            instr_platform_turns_needed();
    if (open_in_tree(wanted, program)) {
        instr_sink_trouble = NULL;
        instr_sink_where = place;
        return true;
    }
#endif
    bool ok = first_place(wanted, program);
#if INSTR_KEEPS_RUNS
    error = ok ? 0 : errno == ERANGE ? ENAMETOOLONG : errno;
#endif
    const size_t length = ok ? trim_place() : 0;
    if (ok && wanted != NULL)
        make_parents();
    instr_sink_trouble = NULL;
    for (uint32_t attempt = 1; ok && attempt < MOST_NAMES && name_attempt(length, attempt); attempt++) {
        if (take_place(program)) {
            if (instr_sink_trouble == UNSAFE)
                instr_sink_trouble = OTHER_NAME_UNSAFE;
#if INSTR_KEEPS_RUNS
            instr_sink_where = place;
#endif
            return true;
        }
        ok = length > 1 && another_name_helps(attempt); /* beside the root folder there is nothing */
    }
#if INSTR_KEEPS_RUNS
    struct stat status;
    if (instr_sink_trouble == NULL || (instr_sink_trouble == UNSAFE && error != 0 && lstat(place, &status) != 0))
        instr_sink_trouble = refusal(error);
    instr_sink_where = wanted != NULL ? wanted : "";
    leave_reason();
#endif
    place[0] = '\0';
    return false;
}

bool instr_place_open_child(uint32_t pid)
{
    const size_t name = strlen(place) + 1;
    errno = 0;
    const int parent = folder();
#if INSTR_KEEPS_RUNS
    const int why = errno;
#endif
    bool made = false;
    bool ok = parent >= 0 && instr_text_append(place, sizeof place, "/fork-") && append_number(place, sizeof place, pid, 1);
    const size_t length = strlen(place);
    /* The number of an ended child may be used again. */
    for (uint32_t attempt = 1; ok && !made && attempt < MOST_NAMES && name_attempt(length, attempt); attempt++) {
        const int in = enter(parent, place + name, S_IRWXU | (taken.st_mode & LOOK_BY_OTHERS), &made);
        ok = in >= 0;
        close(in);
    }
#if INSTR_KEEPS_RUNS
    if (parent < 0)
        error = why;
#endif
    close(parent);
#if INSTR_KEEPS_RUNS
    /* Where not even the folder could be opened, a sandbox may have refused it, and end the process for other calls. */
    if ((!ok || !made) && (parent >= 0 || lacks_descriptors()))
        leave_reason();
#endif
    return ok && made;
}

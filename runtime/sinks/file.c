/*
 * The file sink: a trace is a directory, a stream a file.
 *
 * No descriptor is kept open between calls except the one that holds the directory's lock: the guest may close every descriptor it
 * does not know, and may need all it is allowed. Paths are absolute, so the guest may change its directory.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "sinks/sink.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config.h"
#include "core/settings.h"
#include "core/text.h"

#define PATH_BYTES (INSTR_CFG_PATH_BYTES + 64)

static char place[INSTR_CFG_PATH_BYTES];
static int lock_fd = -1;

static struct {
    int fd; /* meaningful while ok */
    bool ok;
    size_t used;
    char buffer[1024];
} text;

static bool append_number(char *path, size_t bytes, uint32_t value, unsigned digits)
{
    char reversed[12];
    char piece[12];
    unsigned count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (count < sizeof reversed - 1 && (value != 0 || count < digits));
    for (unsigned i = 0; i < count; i++)
        piece[i] = reversed[count - 1 - i];
    piece[count] = '\0';
    return instr_text_append(path, bytes, piece);
}

/* `place/name` or, with number != UINT32_MAX, `place/nameNNNN`. */
static bool path_of(char *path, const char *name, uint32_t number)
{
    memcpy(path, place, strlen(place) + 1);
    return instr_text_append(path, PATH_BYTES, "/") && instr_text_append(path, PATH_BYTES, name) &&
           (number == UINT32_MAX || append_number(path, PATH_BYTES, number, 4));
}

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* `prefix` and a number. */
static bool is_numbered(const char *name, const char *prefix)
{
    if (!starts_with(name, prefix))
        return false;
    const char *digits = name + strlen(prefix);
    return digits[0] != '\0' && strspn(digits, "0123456789") == strlen(digits);
}

/* Files the runtime itself makes in a trace directory. */
static bool is_ours(const char *name)
{
    return strcmp(name, "metadata") == 0 || is_numbered(name, "thread_") || is_numbered(name, ".window_") ||
           strcmp(name, ".metadata.new") == 0 || strcmp(name, ".lock") == 0;
}

enum content { CONTENT_EMPTY, CONTENT_OURS, CONTENT_FOREIGN };

/* What a directory holds: nothing, a trace (only files of ours), or something else. */
static enum content look(const char *dir)
{
    DIR *d = opendir(dir);
    if (d == NULL)
        return CONTENT_FOREIGN;
    enum content found = CONTENT_EMPTY;
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || strcmp(e->d_name, ".lock") == 0)
            continue;
        if (!is_ours(e->d_name) && !is_numbered(e->d_name, "fork-")) {
            found = CONTENT_FOREIGN;
            break;
        }
        found = CONTENT_OURS;
    }
    closedir(d);
    return found;
}

/* Removes the files of an earlier trace; one level of forked children's traces at a time, since children nest. */
static void clear(char *dir, unsigned depth)
{
    DIR *d = opendir(dir);
    if (d == NULL)
        return;
    const size_t length = strlen(dir);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (!instr_text_append(dir, PATH_BYTES, "/") || !instr_text_append(dir, PATH_BYTES, e->d_name)) {
            dir[length] = '\0';
            continue;
        }
        struct stat status;
        if (is_numbered(e->d_name, "fork-") && depth < 16 && lstat(dir, &status) == 0 && S_ISDIR(status.st_mode)) {
            clear(dir, depth + 1);
            (void)rmdir(dir);
        } else if (is_ours(e->d_name) && (depth > 0 || strcmp(e->d_name, ".lock") != 0)) {
            (void)unlink(dir);
        }
        dir[length] = '\0';
    }
    closedir(d);
}

/* Whether `text` holds `key` followed by `value` and `end`. */
static bool holds(const char *text, const char *key, const char *value, char end)
{
    const char *found = strstr(text, key);
    if (found == NULL)
        return false;
    found += strlen(key);
    const size_t length = strlen(value);
    return strncmp(found, value, length) == 0 && found[length] == end;
}

/* The number behind `key` in `text`; 0 when there is none. */
static pid_t number_at(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    long value = 0;
    for (const char *p = found != NULL ? found + strlen(key) : ""; *p >= '0' && *p <= '9' && value < 100000000; p++)
        value = value * 10 + (*p - '0');
    return (pid_t)value;
}

/*
 * Whether the trace in `place` is an earlier run of `program` that is over. One that was not closed and whose process lives stays: it is
 * being written (the process may have lost its lock), or it is the part of this very run before exec.
 */
static bool is_earlier_run(const char *program)
{
    char path[PATH_BYTES];
    char head[8192];
    if (!path_of(path, "metadata", UINT32_MAX))
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const ssize_t count = read(fd, head, sizeof head - 1);
    close(fd);
    if (count <= 0)
        return false;
    head[count] = '\0';
    const pid_t pid = number_at(head, "    pid = ");
    const bool open_still = holds(head, "    closed = ", "0", ';') && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
    return holds(head, "    program = \"", program, '"') && !open_still;
}

/*
 * Opens a file of ours, made when it is not there. Whatever the program's mask takes away, the trace's owner can read and write it: the
 * mask of a program is meant for the program's own files.
 */
static int open_ours(const char *path, int flags)
{
    const int fd = open(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    const mode_t owner = S_IRUSR | S_IWUSR;
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && (status.st_mode & owner) != owner)
        (void)fchmod(fd, (status.st_mode & 07777) | owner); /* refused for a file of another user: it is as it was */
    return fd;
}

/* Makes the directory `place`, which its owner can use whatever the program's mask is. */
static bool make_place(void)
{
    if (mkdir(place, 0777) != 0)
        return false;
    struct stat status;
    if (lstat(place, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & S_IRWXU) != S_IRWXU)
        (void)chmod(place, (status.st_mode & 07777) | S_IRWXU);
    return true;
}

/* Takes the directory `place` for this process: it must be new, empty, or hold an earlier trace of the same program. */
static bool take_place(const char *program)
{
    char path[PATH_BYTES];
    const bool made = make_place();
    if (!made && errno != EEXIST)
        return false;
    if (!path_of(path, ".lock", UINT32_MAX))
        return false;
    const enum content content = look(place);
    if (content == CONTENT_FOREIGN)
        return false;
    const int fd = open_ours(path, O_RDWR);
    if (fd < 0) {
        if (made)
            (void)rmdir(place);
        return false;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(fd);
        return false; /* a live process writes there */
    }
    const enum content now = look(place);
    if (now == CONTENT_FOREIGN || (now == CONTENT_OURS && !is_earlier_run(program))) {
        close(fd);
        return false;
    }
    memcpy(path, place, strlen(place) + 1);
    clear(path, 0);
    lock_fd = fd;
    return true;
}

static bool open_place(const char *wanted, const char *program)
{
    char base[INSTR_CFG_PATH_BYTES];
    base[0] = '\0';
    if (wanted == NULL || wanted[0] != '/') {
        if (getcwd(base, sizeof base) == NULL || !instr_text_append(base, sizeof base, "/"))
            return false;
    }
    if (wanted != NULL ? !instr_text_append(base, sizeof base, wanted)
                       : !instr_text_append(base, sizeof base, program) || !instr_text_append(base, sizeof base, ".instr"))
        return false;
    for (size_t end = strlen(base); end > 1 && base[end - 1] == '/'; end--)
        base[end - 1] = '\0';
    for (uint32_t attempt = 1; attempt < 1000; attempt++) {
        memcpy(place, base, strlen(base) + 1);
        if (attempt > 1 && (!instr_text_append(place, sizeof place, "-") || !append_number(place, sizeof place, attempt, 1)))
            break;
        if (take_place(program))
            return true;
        struct stat status;
        if (lstat(place, &status) != 0)
            break; /* it cannot be made at all: another name would not help */
        if (attempt == 1 && access(place, W_OK) != 0 && S_ISDIR(status.st_mode))
            break; /* nor written */
    }
    place[0] = '\0';
    return false;
}

static bool open_child(uint32_t pid)
{
    if (place[0] == '\0' || !instr_text_append(place, sizeof place, "/fork-") || !append_number(place, sizeof place, pid, 1))
        return false;
    if (make_place())
        return true;
    if (errno != EEXIST)
        return false;
    char path[PATH_BYTES]; /* the number of an ended child was used again */
    memcpy(path, place, strlen(place) + 1);
    clear(path, 1);
    return true;
}

/* Bytes of file the process may still write at `offset`; writing past its limit would raise SIGXFSZ in the guest. */
static bool within_limit(off_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || (rlim_t)end <= limit.rlim_cur;
}

/* Gives a file its blocks now, so that storing into its mapping can never fail. */
static bool allocate(int fd, size_t bytes)
{
    if (!within_limit((off_t)bytes))
        return false;
    int failed;
    do
        failed = fallocate(fd, 0, 0, (off_t)bytes);
    while (failed != 0 && errno == EINTR);
    if (failed == 0)
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    static char zeros[4096]; /* not const: zeroed memory costs an embedded image nothing */
    for (size_t done = 0; done < bytes;) {
        const size_t count = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;
        const ssize_t written = pwrite(fd, zeros, count, (off_t)done);
        if (written <= 0)
            return false;
        done += (size_t)written;
    }
    return true;
}

static void *window(uint32_t number, size_t bytes)
{
    char path[PATH_BYTES];
    if (!path_of(path, ".window_", number))
        return NULL;
    const int fd = open_ours(path, O_RDWR | O_TRUNC);
    if (fd < 0)
        return NULL;
    void *block = MAP_FAILED;
    if (allocate(fd, bytes))
        block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (block == MAP_FAILED) {
        (void)unlink(path);
        return NULL;
    }
    return block;
}

static void window_remove(uint32_t number)
{
    char path[PATH_BYTES];
    if (path_of(path, ".window_", number))
        (void)unlink(path);
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const size_t most = instr_settings.write_max;
        const ssize_t written = write(fd, bytes, most != 0 && most < count ? most : count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static bool append_packet(uint32_t thread, const void *bytes, size_t count)
{
    char path[PATH_BYTES];
    if (!path_of(path, "thread_", thread))
        return false;
    const int fd = open_ours(path, O_WRONLY | O_APPEND);
    if (fd < 0)
        return false;
    const off_t end = lseek(fd, 0, SEEK_END);
    bool ok = end >= 0 && within_limit(end + (off_t)count) && write_all(fd, bytes, count);
    if (!ok && end >= 0 && ftruncate(fd, end) != 0)
        ok = false; /* a torn packet stays: the host cuts it off */
    if (close(fd) != 0)
        ok = false;
    return ok;
}

static bool text_begin(void)
{
    char path[PATH_BYTES];
    text.ok = false;
    if (!path_of(path, ".metadata.new", UINT32_MAX))
        return false;
    text.fd = open_ours(path, O_WRONLY | O_TRUNC);
    text.used = 0;
    text.ok = text.fd >= 0;
    return text.ok;
}

static void text_drain(void)
{
    if (text.ok && !(within_limit(lseek(text.fd, 0, SEEK_CUR) + (off_t)text.used) && write_all(text.fd, text.buffer, text.used)))
        text.ok = false;
    text.used = 0;
}

static void text_more(const char *bytes, size_t count)
{
    while (count > 0) {
        size_t room = sizeof text.buffer - text.used;
        if (room == 0) {
            text_drain();
            room = sizeof text.buffer;
        }
        const size_t piece = count < room ? count : room;
        memcpy(text.buffer + text.used, bytes, piece);
        text.used += piece;
        bytes += piece;
        count -= piece;
    }
}

static bool text_end(void)
{
    char from[PATH_BYTES];
    char to[PATH_BYTES];
    text_drain();
    if (close(text.fd) != 0)
        text.ok = false;
    if (!path_of(from, ".metadata.new", UINT32_MAX) || !path_of(to, "metadata", UINT32_MAX))
        return false;
    if (text.ok && rename(from, to) == 0)
        return true;
    (void)unlink(from);
    return false;
}

const struct instr_sink instr_sink_file = {
    .name = "file",
    .open = open_place,
    .open_child = open_child,
    .window = window,
    .window_remove = window_remove,
    .append = append_packet,
    .text_begin = text_begin,
    .text = text_more,
    .text_end = text_end,
};

/*
 * The file sink of small systems: open, write, close and mkdir, and nothing that needs a heap, a mapping or a lock. A trace is a new
 * directory; none that exists is written into. Writes are never larger than INSTR_WRITE_MAX: NFS version 2 takes 8192 bytes at most.
 */
#define _GNU_SOURCE

#include "core/cold.h"

#include "sinks/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config.h"
#include "core/metadata.h"
#include "core/settings.h"
#include "core/text.h"

#define PATH_BYTES (INSTR_CFG_PATH_BYTES + 32)

static char place[INSTR_CFG_PATH_BYTES];

static struct {
    int fd;
    bool ok;
    size_t used;
    char buffer[512];
} meta;

static char *append_text(char *to, const char *end, const char *piece)
{
    while (to != NULL && *piece != '\0') {
        if (to + 1 >= end)
            return NULL;
        *to++ = *piece++;
    }
    if (to != NULL)
        *to = '\0';
    return to;
}

static char *append_number(char *to, const char *end, uint32_t value, unsigned digits)
{
    char text[INSTR_DECIMAL_BYTES];
    return append_text(to, end, instr_decimal(value, digits, text));
}

/* `place/name` or, with number != UINT32_MAX, `place/nameNNNN`. */
static bool path_of(char *path, const char *name, uint32_t number)
{
    const char *end = path + PATH_BYTES;
    char *to = append_text(append_text(append_text(path, end, place), end, "/"), end, name);
    if (number != UINT32_MAX)
        to = append_number(to, end, number, 4);
    return to != NULL;
}

static bool open_place(const char *wanted, const char *program)
{
    const char *end = place + sizeof place;
    char *base = append_text(place, end, wanted != NULL ? wanted : program);
    if (wanted == NULL)
        base = append_text(base, end, ".instr");
    if (base == NULL)
        return false;
    while (base - place > 1 && base[-1] == '/')
        *--base = '\0';
    for (uint32_t attempt = 1; attempt < 1000; attempt++) {
        if (attempt > 1 && append_number(append_text(base, end, "-"), end, attempt, 1) == NULL)
            break;
        if (mkdir(place, 0777) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    place[0] = '\0';
    return false;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    const size_t most = instr_settings.write_max != 0 ? instr_settings.write_max : count;
    while (count > 0) {
        const ssize_t written = write(fd, bytes, most < count ? most : count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static bool append(uint32_t thread, const void *bytes, size_t count)
{
    char path[PATH_BYTES];
    if (!path_of(path, "thread_", thread))
        return false;
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0)
        return false;
    const off_t before = lseek(fd, 0, SEEK_END);
    bool ok = before >= 0 && write_all(fd, bytes, count);
    if (!ok && before >= 0 && ftruncate(fd, before) != 0)
        ok = false; /* a torn packet stays: the host cuts it off */
    if (close(fd) != 0)
        ok = false;
    return ok;
}

static bool text_begin(void)
{
    char path[PATH_BYTES];
    meta.ok = false;
    if (!path_of(path, ".metadata.new", UINT32_MAX))
        return false;
    meta.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    meta.used = 0;
    meta.ok = meta.fd >= 0;
    return meta.ok;
}

static void drain(void)
{
    if (meta.ok && !write_all(meta.fd, meta.buffer, meta.used))
        meta.ok = false;
    meta.used = 0;
}

static void text(const char *bytes, size_t count)
{
    while (count > 0) {
        if (meta.used == sizeof meta.buffer)
            drain();
        const size_t room = sizeof meta.buffer - meta.used;
        const size_t piece = count < room ? count : room;
        memcpy(meta.buffer + meta.used, bytes, piece);
        meta.used += piece;
        bytes += piece;
        count -= piece;
    }
}

/* Some file systems of RTEMS cannot rename onto a file that exists: the old one goes first. */
static bool text_end(void)
{
    char from[PATH_BYTES];
    char to[PATH_BYTES];
    drain();
    if (close(meta.fd) != 0)
        meta.ok = false;
    if (!path_of(from, ".metadata.new", UINT32_MAX) || !path_of(to, "metadata", UINT32_MAX))
        return false;
    if (meta.ok && (rename(from, to) == 0 || (unlink(to) == 0 && rename(from, to) == 0)))
        return true;
    (void)unlink(from);
    return false;
}

const struct instr_sink instr_sink_file = {
    .name = "file",
    .open = open_place,
    .append = append,
    .text_begin = text_begin,
    .text = text,
    .text_end = text_end,
    .declare = instr_metadata_declare,
};

/* The file sink: a trace is a directory (sinks/file_place.c), a stream a file. Files are opened for each call, and closed. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "sinks/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config.h"
#include "core/metadata.h"
#include "core/settings.h"
#include "core/thread.h"
#include "sinks/file_place.h"

/*
 * The program may close every descriptor at any moment, and what it opens then gets its number: that is neither to be written, cut nor closed
 * here. Between a look and the call behind it this may still happen.
 */
struct ours {
    int fd;
    struct instr_file_id file; /* as it was opened */
    off_t bytes;
};

static bool is_ours(const struct ours *o)
{
#if INSTR_KEEPS_RUNS
    return instr_place_is(o->fd, &o->file, NULL);
#else
    (void)o;
    return true;
#endif
}

/* Opens a file of the trace. False: there is none, or it is closed already. Inline: stack below a full buffer is dear. */
static inline __attribute__((always_inline)) bool take(struct ours *o, const char *name, uint32_t number, enum instr_file_use use)
{
    o->fd = instr_place_file(name, number, use, &o->file);
#if INSTR_KEEPS_RUNS
    return o->fd >= 0 && instr_place_is(o->fd, &o->file, &o->bytes);
#else
    return o->fd >= 0;
#endif
}

/* False where what was written may be lost. */
static bool give_back(const struct ours *o)
{
    return !is_ours(o) || close(o->fd) == 0 || (INSTR_KEEPS_RUNS && errno == EBADF); /* closed since the look */
}

static struct {
    struct ours file; /* meaningful while ok */
    bool ok;
    size_t used;
    char buffer[1024];
} text;

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

/* Maps a window's file behind a page of the process's own. */
static void *map(int fd, size_t page, size_t bytes)
{
    char *own = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return NULL;
    if (mmap(own + page, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        (void)munmap(own, page + bytes);
        return NULL;
    }
    return own + page;
}

static void *window(uint32_t number, size_t bytes)
{
    const size_t page = (size_t)getpagesize();
    struct ours o;
    if (!take(&o, ".window_", number, INSTR_FILE_PRIVATE))
        return NULL;
    void *block = NULL;
    bytes = (bytes + page - 1) / page * page; /* a part of a page is not shared by emulators whose own pages are smaller */
    if (allocate(o.fd, bytes))
        block = map(o.fd, page, bytes);
    (void)give_back(&o);
    if (block == NULL)
        (void)instr_place_file(".window_", number, INSTR_FILE_NONE, NULL);
    return block;
}

static void window_remove(uint32_t number)
{
    (void)instr_place_file(".window_", number, INSTR_FILE_NONE, NULL);
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

static const char *prefix_of(uint32_t stream)
{
    return (stream & INSTR_SWITCHES_BIT) == 0 ? "thread_" : "switches_";
}

/* Opens the file of a stream. Again, where the program has closed it since. */
static bool take_stream(struct ours *o, uint32_t stream)
{
    const char *const name = prefix_of(stream);
    for (unsigned tries = INSTR_KEEPS_RUNS ? 8 : 1; tries > 0; tries--)
        if (take(o, name, stream & ~INSTR_SWITCHES_BIT, INSTR_FILE_APPEND))
            return true;
    return false;
}

#if INSTR_KEEPS_RUNS
/* Whether a stream whose file was taken away grew from `begin` to `end` all the same. Else it is as long as before. */
static bool has_arrived(uint32_t stream, off_t begin, off_t end)
{
    struct ours o;
    if (!take_stream(&o, stream)) /* it may be taken away again */
        return false;
    const bool ok = o.bytes == end;
    /* A part of the packet. What is shorter or longer than that is another file than the one whose end was taken. */
    if (o.bytes > begin && o.bytes < end)
        (void)!ftruncate(o.fd, begin); /* a torn packet stays: the host cuts it off */
    return give_back(&o) && ok;
}
#endif

static bool append_packets(uint32_t stream, const void *bytes, size_t count)
{
    struct ours o;
    if (!take_stream(&o, stream))
        return false;
#if INSTR_KEEPS_RUNS
    const off_t end = o.bytes; /* of the file that was looked at, not of what has its number now */
#else
    const off_t end = lseek(o.fd, 0, SEEK_END);
#endif
    bool ok = end >= 0 && within_limit(end + (off_t)count) && write_all(o.fd, bytes, count);
#if INSTR_KEEPS_RUNS
    if (!is_ours(&o))
        return end >= 0 && has_arrived(stream, end, end + (off_t)count);
#endif
    if (!ok && end >= 0 && ftruncate(o.fd, end) != 0)
        ok = false; /* a torn packet stays: the host cuts it off */
#if INSTR_KEEPS_RUNS
    if (!ok && end == 0) /* nothing was written: an empty file in a folder without a metadata would keep later runs from it */
        (void)instr_place_file(prefix_of(stream), stream & ~INSTR_SWITCHES_BIT, INSTR_FILE_NONE, NULL);
#endif
    return give_back(&o) && ok;
}

static bool text_begin(void)
{
    text.used = 0;
    text.ok = take(&text.file, ".metadata.new", UINT32_MAX, INSTR_FILE_NEW);
    return text.ok;
}

static void text_drain(void)
{
    const int fd = text.file.fd;
    if (text.ok && !(is_ours(&text.file) && within_limit(lseek(fd, 0, SEEK_CUR) + (off_t)text.used) &&
                     write_all(fd, text.buffer, text.used)))
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
    text_drain();
    if (!give_back(&text.file))
        text.ok = false;
    if (text.ok)
        return instr_place_rename(".metadata.new", "metadata"); /* a complete draft without the name is of use to the host */
    (void)instr_place_file(".metadata.new", UINT32_MAX, INSTR_FILE_NONE, NULL);
    return false;
}

#if INSTR_HAS_TAKEOVER
/* A name takes no block of a full disk. */
static void lost(uint32_t events)
{
    struct ours o;
    if (take(&o, ".discarded_", events, INSTR_FILE_PRIVATE))
        (void)give_back(&o);
}
#endif

const struct instr_sink instr_sink_file = {
    .name = "file",
    .shares = true,
    .open = instr_place_open,
    .open_child = instr_place_open_child,
    .window = window,
    .window_remove = window_remove,
    .append = append_packets,
    .text_begin = text_begin,
    .text = text_more,
    .text_end = text_end,
    .declare = instr_metadata_declare,
#if INSTR_HAS_TAKEOVER
    .lost = lost,
#endif
#if INSTR_KEEPS_RUNS
    .give_way = instr_place_give_way,
#endif
};

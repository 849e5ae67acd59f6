#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "platform/linux/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/settings.h"
#include "platform/platform.h"

static struct instr_file_sensor *pool; /* INSTR_CFG_SENSORS of them, when any is asked for */
static uint32_t kept;

struct instr_file_sensor *instr_file_next(void)
{
    if (pool == NULL)
        pool = instr_platform_memory(INSTR_CFG_SENSORS * sizeof *pool);
    if (pool == NULL || kept == INSTR_CFG_SENSORS)
        return NULL;
    struct instr_file_sensor *f = &pool[kept];
    memset(f, 0, sizeof *f);
    f->sensor.name = f->name;
    f->sensor.source = f->path;
    f->sensor.values = 1;
    f->sensor.handle = -1;
    f->sensor.init = instr_file_open;
    f->sensor.read = instr_file_read_integer;
    return f;
}

void instr_file_keep(void)
{
    kept++;
}

bool instr_file_offer(struct instr_file_sensor *f)
{
    if (f->labels[0] != '\0')
        f->sensor.labels = f->labels;
    if (f->scale[0] != '\0')
        f->sensor.scale = f->scale;
    if (!instr_sensor_wanted(f->name))
        return false;
    const bool taken = instr_sensor_offer(&f->sensor);
    if (!taken && f->sensor.handle >= 0) {
        close(f->sensor.handle);
        f->sensor.handle = -1;
    }
    instr_file_keep(); /* a reason may point to its name */
    return taken;
}

bool instr_file_path(char *path, size_t bytes, const char *const *pieces)
{
    size_t used = strlen(instr_settings.sensors_root);
    if (used >= bytes)
        return false;
    memcpy(path, instr_settings.sensors_root, used + 1);
    for (; *pieces != NULL; pieces++) {
        const size_t more = strlen(*pieces);
        if (used + more >= bytes)
            return false;
        memcpy(path + used, *pieces, more + 1);
        used += more;
    }
    return true;
}

/*
 * Opens a file for reading whatever lies there: a pipe or a device is not opened at all, which alone may wait or do something. -1, with
 * errno ESPIPE for what is no regular file; those of /sys and /proc are.
 */
static int open_regular(const char *path, struct stat *status)
{
    if (stat(path, status) == 0 && !S_ISREG(status->st_mode)) {
        errno = ESPIPE;
        return -1;
    }
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool instr_file_line(char *line, size_t bytes, const char *const *pieces)
{
    char path[INSTR_FILE_PATH];
    struct stat status;
    if (!instr_file_path(path, sizeof path, pieces))
        return false;
    const int fd = open_regular(path, &status);
    if (fd < 0)
        return false;
    ssize_t count = read(fd, line, bytes - 1);
    close(fd);
    if (count <= 0)
        return false;
    line[count] = '\0';
    line[strcspn(line, "\n")] = '\0';
    for (count = (ssize_t)strlen(line); count > 0 && (line[count - 1] == ' ' || line[count - 1] == '\t'); count--)
        line[count - 1] = '\0';
    return line[0] != '\0';
}

bool instr_turn_take(struct instr_turn *turn)
{
    const pid_t self = getpid();
    if (atomic_flag_test_and_set_explicit(&turn->taken, memory_order_acquire) && (turn->whose == 0 || turn->whose == self))
        return false;
    turn->whose = self;
    return true;
}

void instr_turn_give(struct instr_turn *turn)
{
    turn->whose = 0;
    atomic_flag_clear_explicit(&turn->taken, memory_order_release);
}

bool instr_parse_integer(const char *text, int64_t *value)
{
    uint64_t magnitude = 0;
    const bool negative = *text == '-';
    const char *p = negative || *text == '+' ? text + 1 : text;
    const char *const begin = p;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (magnitude > (uint64_t)INT64_MAX / 10)
            return false;
        magnitude = magnitude * 10 + (uint64_t)(*p - '0');
    }
    if (p == begin || magnitude > (uint64_t)INT64_MAX || (*p != '\0' && *p != '\n' && *p != ' ' && *p != '\t'))
        return false;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

const char *instr_file_open(struct instr_sensor *s)
{
    struct instr_file_sensor *f = (struct instr_file_sensor *)(void *)s;
    struct stat status;
    const bool had_turn = instr_platform_turn_begin();
    s->handle = instr_high_descriptor(open_regular(f->path, &status));
    instr_platform_turn_end(had_turn);
    if (s->handle < 0)
        switch (errno) {
        case ESPIPE:
            return "it is not a regular file";
        case ELOOP:
            return "its symbolic links lead nowhere";
        case EACCES:
        case EPERM:
            return "permission denied (instr doctor says what to do)";
        case ENOENT:
            return "no such file";
        case EMFILE:
        case ENFILE:
            return "too many open files";
        default:
            return "it cannot be opened";
        }
    if (fstat(s->handle, &status) != 0)
        return "its state cannot be read";
    f->device = (uint64_t)status.st_dev;
    f->inode = (uint64_t)status.st_ino;
    return NULL;
}

/* Whether the descriptor is still the file that was opened, and that file still has a name. */
static bool is_still_there(const struct instr_file_sensor *f)
{
    struct stat status;
    return fstat(f->sensor.handle, &status) == 0 && (uint64_t)status.st_dev == f->device && (uint64_t)status.st_ino == f->inode &&
           status.st_nlink != 0;
}

/*
 * Opens the file again where the program closed our descriptor, or the file was replaced. A descriptor that is ours gets the new file under its
 * number, which is never free in between: another thread would open something there, and a reader take that for the sensor. Descriptors of
 * others are left alone.
 */
static int open_again(struct instr_file_sensor *f)
{
    struct stat status;
    const int old = f->sensor.handle;
    const bool ours = fstat(old, &status) == 0 && (uint64_t)status.st_dev == f->device && (uint64_t)status.st_ino == f->inode;
    struct instr_file_sensor again = *f;
    if (instr_file_open(&again.sensor) != NULL)
        return ENOENT;
    if (ours && dup3(again.sensor.handle, old, O_CLOEXEC) == old) {
        close(again.sensor.handle);
        again.sensor.handle = old;
    }
    f->device = again.device;
    f->inode = again.inode;
    f->sensor.handle = again.sensor.handle;
    return 0;
}

/* One thread opens; whoever comes meanwhile, a handler that interrupted it too, has no value this time. */
static int open_once(struct instr_file_sensor *f)
{
    if (!instr_turn_take(&f->opening))
        return -1;
    const int gone = is_still_there(f) ? 0 : open_again(f);
    instr_turn_give(&f->opening);
    return gone;
}

int instr_file_text(struct instr_file_sensor *f, char *text, size_t bytes)
{
    if (!is_still_there(f)) {
        const int gone = open_once(f);
        if (gone != 0)
            return gone;
    }
    const ssize_t count = pread(f->sensor.handle, text, bytes - 1, 0);
    if (count < 0)
        return errno == EAGAIN || errno == ENODATA || errno == EINTR || errno == ETIMEDOUT ? -1 : errno;
    text[count] = '\0';
    return count == 0 ? -1 : 0;
}

int instr_file_read_integer(struct instr_sensor *s, int64_t *values)
{
    char text[32];
    const int error = instr_file_text((struct instr_file_sensor *)(void *)s, text, sizeof text);
    if (error != 0)
        return error;
    return instr_parse_integer(text, values) ? 0 : EINVAL;
}

size_t instr_file_list(const char *path, bool (*number)(const char *name, uint64_t *number), uint64_t *numbers, size_t most)
{
    DIR *d = opendir(path);
    size_t count = 0;
    if (d == NULL)
        return 0;
    for (struct dirent *e = readdir(d); e != NULL && count < most; e = readdir(d)) {
        uint64_t value;
        if (!number(e->d_name, &value))
            continue;
        size_t at = count++;
        for (; at > 0 && numbers[at - 1] > value; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = value;
    }
    closedir(d);
    return count;
}

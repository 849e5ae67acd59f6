/* A file of its own: sampling needs it where no sensors are (docs/decisions/0013). */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/linux_files.h"

int instr_high_descriptor(int fd)
{
    struct rlimit limit;
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fd;
    const rlim_t low = limit.rlim_cur / 2 < 4096 ? limit.rlim_cur / 2 : 4096;
    if ((rlim_t)fd >= low)
        return fd;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, (int)low);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

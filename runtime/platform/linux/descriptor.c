/* A file of its own: sampling needs it where no sensors are (docs/decisions/0013). */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/linux/files.h"

/* The program keeps three quarters of the descriptors that it may have, from the lowest number on. */
int instr_high_descriptor(int fd)
{
    struct rlimit limit;
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fd;
    const rlim_t three_quarters = limit.rlim_cur - limit.rlim_cur / 4;
    const rlim_t low = three_quarters < 4096 ? three_quarters : 4096;
    if ((rlim_t)fd >= low)
        return fd;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, (int)low);
    const int error = errno;
    close(fd);
    errno = error;
    return high;
}

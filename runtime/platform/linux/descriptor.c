/* Numbers of descriptors. A file of its own: sampling needs it where no sensors are (docs/decisions/0013). */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/linux/files.h"
#include "platform/platform.h"

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

#if INSTR_KEEPS_RUNS
#define TURN_NS 1000000000u /* the longest that a thread waits for its turn; and, where another one did so in vain, until somebody has it again */
#define STUCK_NS 2000000u

static bool are_needed;
static bool is_stuck;
static uint32_t owner; /* the thread whose turn it is; 0: nobody's */

void instr_platform_turns_needed(void)
{
    __atomic_store_n(&are_needed, true, __ATOMIC_RELAXED);
}

bool instr_platform_turn_begin(void)
{
    if (!__atomic_load_n(&are_needed, __ATOMIC_RELAXED))
        return false;
    const uint32_t self = instr_platform_tid();
    const uint64_t longest = __atomic_load_n(&is_stuck, __ATOMIC_RELAXED) ? STUCK_NS : TURN_NS;
    const uint64_t give_up = instr_platform_monotonic_ns() + longest;
    uint32_t found = 0;
    while (!__atomic_compare_exchange_n(&owner, &found, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (found == self) /* a handler of a signal that is not held has interrupted it */
            return false;
        if (instr_platform_monotonic_ns() > give_up) {
            __atomic_store_n(&is_stuck, true, __ATOMIC_RELAXED);
            return false;
        }
        instr_platform_sleep_on(&owner, found, 1000000);
        found = 0;
    }
    __atomic_store_n(&is_stuck, false, __ATOMIC_RELAXED);
    return true;
}

void instr_platform_turns_anew(void)
{
    __atomic_store_n(&owner, 0, __ATOMIC_RELAXED);
}

void instr_platform_turn_end(bool had)
{
    if (!had)
        return;
    const int error = errno;
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
    instr_platform_wake(&owner);
    errno = error;
}
#endif

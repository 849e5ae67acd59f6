/* Processors that the process may use, and what the kernel counts of a thread's time on them. */
#define _GNU_SOURCE

#include "core/cold.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/text.h"
#include "platform/platform.h"

#if INSTR_HAS_THREAD_TIME

#define PATH 4096u

/* The text of a small file, ended by 0; false: it cannot be read. */
static bool text_of(const char *path, char *text, size_t bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t count = read(fd, text, bytes - 1);
    close(fd);
    if (count <= 0)
        return false;
    text[count] = '\0';
    return true;
}

/* The number at *text, which then stands behind it and one more character; false when there is none. */
static bool number(const char **text, uint64_t *value)
{
    const char *p = *text;
    *value = 0;
    for (; *p >= '0' && *p <= '9' && *value < UINT64_MAX / 10; p++)
        *value = *value * 10 + (uint64_t)(*p - '0');
    if (p == *text)
        return false;
    *text = *p != '\0' ? p + 1 : p;
    return true;
}

uint32_t instr_platform_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 0;
}

/* cgroups(7), version 2: the least share that a group gives, from the process's own up to the root. */
uint32_t instr_platform_processor_quota(void)
{
    char text[PATH];
    char path[PATH] = "/sys/fs/cgroup";
    uint64_t least = 0;
    if (!text_of("/proc/self/cgroup", text, sizeof text))
        return 0;
    const char *group = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (group == NULL)
        return 0;
    char *const begin = text + (group - text) + (*group == '\n' ? 4 : 3);
    begin[strcspn(begin, "\n")] = '\0';
    const size_t root = strlen(path);
    if (!instr_text_append(path, sizeof path, begin))
        return 0;
    for (;;) {
        const size_t length = strlen(path);
        const char *at = text;
        uint64_t quota;
        uint64_t period;
        if (instr_text_append(path, sizeof path, "/cpu.max") && text_of(path, text, sizeof text) && number(&at, &quota) &&
            number(&at, &period) && period != 0 && quota < UINT64_MAX / 1000) {
            const uint64_t share = quota * 1000 / period;
            if (least == 0 || share < least)
                least = share;
        }
        path[length] = '\0';
        char *const last = strrchr(path, '/');
        if (last == NULL || (size_t)(last - path) < root)
            break;
        *last = '\0';
    }
    return least < UINT32_MAX ? (uint32_t)least : 0;
}

uint64_t instr_platform_run_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* proc(5), /proc/PID/schedstat: time on a processor, time in a run queue, both in ns, and how often. */
bool instr_platform_thread_time(uint32_t os_tid, uint64_t *run_ns, uint64_t *wait_ns)
{
    char digits[INSTR_DECIMAL_BYTES];
    char path[64] = "/proc/self/task/";
    char text[96];
    const char *at = text;
    return instr_text_append(path, sizeof path, instr_decimal(os_tid, 1, digits)) &&
           instr_text_append(path, sizeof path, "/schedstat") && text_of(path, text, sizeof text) && number(&at, run_ns) &&
           number(&at, wait_ns);
}

#endif

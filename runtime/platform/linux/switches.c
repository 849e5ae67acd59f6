/*
 * Context switches of a thread, by perf (perf_event_open(2), PERF_RECORD_SWITCH): the kernel writes a record of 24 bytes into a ring that is
 * mapped here whenever the thread leaves a processor or gets one. A user may have that of threads of his own as long as
 * kernel.perf_event_paranoid is at most 2. The event is one that counts nothing. Its descriptor is closed at once: the mapping keeps it.
 *
 * Forked children do not have the mapping (the kernel leaves it out), nor does what a thread becomes by exec.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "platform/platform.h"

#if INSTR_HAS_SWITCHES

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef PERF_RECORD_MISC_SWITCH_OUT_PREEMPT /* Linux 4.17; before, the kernel does not say it */
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14)
#endif

/*
 * Pages of a ring, tried in this order: rings count as locked memory, of which the kernel gives each user 516 KiB a processor, and RLIMIT_MEMLOCK
 * beyond. In 32 pages there is room for 5,461 records: 10 s of a thread that shares its processor with three others.
 */
static const unsigned PAGES[] = {32, 8, 2};

#define SECCOMP_FILTER 2

/* What a record of 24 bytes holds behind its header: sample_type below. */
enum { AT_TIME = 1, AT_PROCESSOR = 2, SWITCH_WORDS = 3, AT_LOST = 2, LOST_WORDS = 5 };

static int open_event(void)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attr.sample_id_all = 1;
    attr.context_switch = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * INSTR_LAUNCHER=LAUNCHER:NAMESPACE: the launcher records the switches of all that it starts, by the thread numbers of that namespace (the inode of
 * /proc/PID/ns/pid). A process that has others is not found in its records, and a daemon may outlive it.
 */
bool instr_platform_switches_launched(void)
{
    const char *text = instr_platform_getenv("INSTR_LAUNCHER");
    uint64_t numbers[2] = {0, 0};
    struct stat own;
    for (unsigned i = 0; i < 2 && text != NULL; i++) {
        for (; *text >= '0' && *text <= '9'; text++)
            numbers[i] = 10 * numbers[i] + (uint64_t)(*text - '0');
        text = *text == ':' ? text + 1 : "";
    }
    if (numbers[0] == 0 || numbers[0] > INT32_MAX || stat("/proc/self/ns/pid", &own) != 0 || numbers[1] != own.st_ino)
        return false;
    return kill((pid_t)numbers[0], 0) == 0 || errno == EPERM;
}

const char *instr_platform_switches_refused(bool forced)
{
    /* A filter may end the process for a call that it does not know. Most containers have one, which refuses this call. */
    if (!forced && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_FILTER)
        return "no: a seccomp filter is in place (INSTR_SWITCHES=1 tries)";
    /* The first event of a thread since a second takes some 8 ms, in which the kernel waits until all processors look at events. */
    const bool had_turn = instr_platform_turn_begin();
    const int fd = open_event();
    if (fd >= 0)
        close(fd);
    instr_platform_turn_end(had_turn);
    if (fd >= 0)
        return NULL;
    switch (errno) {
    case EACCES:
    case EPERM:
        return "no: the kernel does not permit it (kernel.perf_event_paranoid is above 2, or a container forbids it)";
    case ENOSYS:
        return "no: the kernel has no perf_event_open";
    case EMFILE:
    case ENFILE:
        return "no: too many open files";
    default:
        return "no: perf_event_open failed";
    }
}

bool instr_platform_switches_open(bool forced, struct instr_switch_ring *ring, uint32_t *processor)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = MAP_FAILED;
    unsigned pages = 0;
    if (!forced && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_FILTER) /* the program's own, since it began */
        return false;
    const bool had_turn = instr_platform_turn_begin();
    const int fd = open_event();
    for (size_t i = 0; fd >= 0 && i < sizeof PAGES / sizeof PAGES[0] && map == MAP_FAILED; i++) {
        pages = PAGES[i];
        map = mmap(NULL, (1 + pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    instr_platform_turn_end(had_turn);
    if (map == MAP_FAILED)
        return false;
    struct perf_event_mmap_page *const head = map;
    ring->map = map;
    ring->bytes = (1 + pages) * page;
    ring->head = (const volatile uint64_t *)&head->data_head;
    ring->size = pages * page;
    ring->tail = 0;
    const int number = sched_getcpu();
    *processor = number >= 0 ? (uint32_t)number : UINT32_MAX;
    return true;
}

void instr_platform_switches_close(struct instr_switch_ring *ring)
{
    if (ring->map != NULL)
        (void)munmap(ring->map, ring->bytes);
    ring->map = NULL;
}

/* The word of the ring at the place `at`, which never wraps inside a word. */
static uint64_t word_at(const struct instr_switch_ring *ring, uint64_t at)
{
    uint64_t word;
    const char *const data = (const char *)ring->map + (ring->bytes - ring->size);
    memcpy(&word, data + (at & (ring->size - 1)), sizeof word);
    return word;
}

bool instr_platform_switches_next(struct instr_switch_ring *ring, struct instr_switch *found)
{
    const uint64_t head = __atomic_load_n(ring->head, __ATOMIC_ACQUIRE);
    while (head - ring->tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header header;
        const uint64_t first = word_at(ring, ring->tail);
        const uint64_t at = ring->tail;
        memcpy(&header, &first, sizeof header);
        if (header.size < sizeof header || header.size > head - at)
            break; /* no record: what follows cannot be found */
        ring->tail += header.size;
        if (header.type == PERF_RECORD_SWITCH && header.size >= 8 * SWITCH_WORDS) {
            found->state = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0           ? INSTR_SCHEDULED_RUNNING
                           : (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0 ? INSTR_SCHEDULED_READY
                                                                                      : INSTR_SCHEDULED_BLOCKED;
            found->ns = word_at(ring, at + 8 * AT_TIME);
            found->number = found->state == INSTR_SCHEDULED_RUNNING ? (uint32_t)word_at(ring, at + 8 * AT_PROCESSOR) : 0;
            return true;
        }
        if (header.type == PERF_RECORD_LOST && header.size >= 8 * LOST_WORDS) {
            const uint64_t lost = word_at(ring, at + 8 * AT_LOST);
            found->state = INSTR_SCHEDULED_UNKNOWN;
            found->number = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX;
            return true;
        }
    }
    return false;
}

uint64_t instr_platform_switches_count(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw : 0;
}

void instr_platform_switches_done(struct instr_switch_ring *ring, bool all)
{
    struct perf_event_mmap_page *const head = ring->map;
    if (all)
        ring->tail = __atomic_load_n(ring->head, __ATOMIC_ACQUIRE);
    __atomic_store_n(&head->data_tail, ring->tail, __ATOMIC_RELEASE);
}

#endif

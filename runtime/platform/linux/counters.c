/*
 * Counters of threads by perf_event_open, and the scheduler's own statistics. Every thread opens its own when it is attached. Events go
 * into groups, so that those of a group are counted at the same times; one that does not fit begins a group of its own. Where there are
 * more than the processor can count at once, values are scaled by the time they were counted.
 */
#define _GNU_SOURCE

#include "core/cold.h"

#include "sensors/sensors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/packet.h"
#include "core/record.h"
#include "core/settings.h"
#include "platform/linux/files.h"
#include "platform/linux/perf.h"

#define MOST INSTR_SENSOR_VALUES
#define NAME_BYTES 64u
#define MISSING INT64_MIN
#define SCHEDSTAT 0x80000000u /* attr.type of the scheduler's statistics; attr.config is the number's place in the file */

static struct {
    char name[NAME_BYTES];
    struct perf_event_attr attr;
} counters[MOST];
static uint32_t counter_count;

static struct {
    char name[NAME_BYTES];
    const char *why;
} refused[24];
static uint32_t refused_count;

/* What is open for a thread. Never given back, but used again. */
struct open_counters {
    struct open_counters *next;
    bool used;
    bool uses_schedstat;
    int schedstat;
    uint64_t schedstat_inode;
    int fd[MOST];           /* -1: not counted on this thread */
    uint64_t id[MOST];      /* the kernel's, to know the descriptor by */
    uint8_t group[MOST];    /* number of the event that leads its group */
    uint8_t members[MOST];  /* of the group this event leads; 0: it leads none */
    struct perf_event_mmap_page *page[MOST];
};

static struct open_counters *all;

/* ---- choosing ---- */

static const char *const SCHEDSTAT_NAMES[] = {"schedstat-run", "schedstat-wait", "schedstat-slices"};

/* What is counted in nanoseconds. */
static const char *unit_of(const struct perf_event_attr *attr)
{
    if (attr->type == SCHEDSTAT)
        return attr->config < 2 ? "ns" : "-";
    if (attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_TASK_CLOCK || attr->config == PERF_COUNT_SW_CPU_CLOCK))
        return "ns";
    return "-";
}

static void refuse(const char *text, size_t length, const char *why)
{
    if (refused_count == sizeof refused / sizeof refused[0])
        return;
    const size_t bytes = length < NAME_BYTES - 1 ? length : NAME_BYTES - 1;
    char *name = refused[refused_count].name;
    memcpy(name, text, bytes);
    name[bytes] = '\0';
    refused[refused_count++].why = why;
    if (instr_settings.verbose) {
        instr_platform_say("instr: note: not counted: ");
        instr_platform_say(name);
        instr_platform_say(": ");
        instr_platform_say(why);
        instr_platform_say("\n");
    }
}

static int open_event(struct perf_event_attr *attr, int group)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* Whether only the kernel does what is counted, so that without its part there is always 0 to count. */
static bool is_of_kernel(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_TRACEPOINT || (attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                                                                      attr->config == PERF_COUNT_SW_CPU_MIGRATIONS));
}

/* Tries the event on this thread; user code only where the kernel is not allowed to be counted, as perf does. Returns errno. */
static int try_event(struct perf_event_attr *attr)
{
    int fd = open_event(attr, -1);
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !attr->exclude_kernel && !attr->exclude_user && !is_of_kernel(attr)) {
        attr->exclude_kernel = 1;
        fd = open_event(attr, -1);
    }
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static void choose(const char *text, size_t length)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    bool known = false;
    for (unsigned i = 0; i < 3; i++)
        if (strlen(SCHEDSTAT_NAMES[i]) == length && memcmp(text, SCHEDSTAT_NAMES[i], length) == 0) {
            attr.type = SCHEDSTAT;
            attr.config = i;
            known = true;
        }
    const char *why = known ? NULL : instr_perf_parse(text, length, &attr);
    if (why != NULL) {
        refuse(text, length, why);
        return;
    }
    const bool asked_both = !attr.exclude_kernel && !attr.exclude_user;
    const int error = attr.type == SCHEDSTAT ? (access("/proc/thread-self/schedstat", R_OK) == 0 ? 0 : ENOENT) : try_event(&attr);
    if (error != 0 || counter_count == MOST || length >= NAME_BYTES - 2) {
        refuse(text, length,
               error != 0 ? instr_perf_reason(error) : counter_count == MOST ? "there are too many" : "its name is too long");
        return;
    }
    char *name = counters[counter_count].name;
    memcpy(name, text, length);
    name[length] = '\0';
    if (asked_both && attr.exclude_kernel)
        memcpy(name + length, text[length - 1] == '/' ? "u" : ":u", text[length - 1] == '/' ? 2 : 3);
    counters[counter_count++].attr = attr;
}

bool instr_counters_begin(void)
{
    const char *p = instr_settings.counters;
    counter_count = refused_count = 0;
    while (*p != '\0') {
        size_t length = 0;
        bool inside = false; /* between slashes a comma separates terms, not events */
        while (p[length] != '\0' && (inside || (p[length] != ',' && p[length] != ' '))) {
            inside ^= p[length] == '/';
            length++;
        }
        if (length > 0)
            choose(p, length);
        p += length;
        p += strspn(p, ", ");
    }
    return counter_count > 0;
}

void instr_counters_describe(instr_sensor_line *line)
{
    for (uint32_t i = 0; i < counter_count; i++) {
        const char *words[] = {counters[i].name, unit_of(&counters[i].attr)};
        line("counter_", i, words, 2);
    }
    for (uint32_t i = 0; i < refused_count; i++) {
        const char *words[] = {refused[i].name, refused[i].why};
        line("counter_trouble_", i, words, 2);
    }
}

/* ---- opening ---- */

static struct open_counters *take(void)
{
    struct open_counters *o = all;
    while (o != NULL && o->used)
        o = o->next;
    if (o == NULL) {
        o = instr_platform_memory(sizeof *o);
        if (o == NULL)
            return NULL;
        o->next = all;
        all = o;
    }
    struct open_counters *const next = o->next;
    memset(o, 0, sizeof *o);
    o->next = next;
    o->used = true;
    o->schedstat = -1;
    for (uint32_t i = 0; i < MOST; i++)
        o->fd[i] = -1;
    return o;
}

/* Opens event `i`, in the group that `leader` leads if it fits. Returns the leader of its group, which does not count yet. */
static uint32_t open_one(struct open_counters *o, uint32_t i, uint32_t leader)
{
    struct perf_event_attr attr = counters[i].attr;
    const bool has_group = leader != i && o->fd[leader] >= 0;
    const bool had_turn = instr_platform_turn_begin();
    int fd = has_group ? open_event(&attr, o->fd[leader]) : -1;
    if (fd < 0) {
        attr.disabled = 1;
        fd = open_event(&attr, -1);
        leader = i;
    }
    fd = instr_high_descriptor(fd);
    instr_platform_turn_end(had_turn);
    if (fd < 0)
        return i;
    o->fd[i] = fd;
    o->group[i] = (uint8_t)leader;
    o->members[leader]++;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &o->id[i]) != 0)
        o->id[i] = 0;
#if defined(__x86_64__)
    struct perf_event_mmap_page *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) {
        if (page->cap_user_rdpmc)
            o->page[i] = page;
        else
            (void)munmap(page, (size_t)sysconf(_SC_PAGESIZE));
    }
#endif
    return leader;
}

void instr_counters_open(struct instr_thread *t)
{
    if (counter_count == 0)
        return;
    struct open_counters *o = take();
    uint32_t leader = 0;
    bool first = true;
    if (o == NULL)
        return;
    for (uint32_t i = 0; i < counter_count; i++) {
        if (counters[i].attr.type == SCHEDSTAT) {
            o->uses_schedstat = true;
            continue;
        }
        leader = open_one(o, i, first ? i : leader);
        first = false;
    }
    /* What joins a group that counts already counts, on Linux 6.18 behind a clock, only from the next switch of the thread on. */
    for (uint32_t i = 0; i < counter_count; i++)
        if (o->members[i] != 0)
            (void)ioctl(o->fd[i], PERF_EVENT_IOC_ENABLE, 0);
    struct stat status;
    if (o->uses_schedstat) {
        const bool had_turn = instr_platform_turn_begin();
        o->schedstat = instr_high_descriptor(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
        instr_platform_turn_end(had_turn);
    }
    if (o->schedstat >= 0 && fstat(o->schedstat, &status) == 0)
        o->schedstat_inode = (uint64_t)status.st_ino;
    t->counters = o;
}

/* Whether the descriptor is still what was opened: the program may have closed it, and opened something else that a read would take
 * from, or that is not ours to close. (read_group and close_all ask the kernel for the event's number.) */
static bool is_schedstat(const struct open_counters *o)
{
    struct stat status;
    return o->schedstat >= 0 && fstat(o->schedstat, &status) == 0 && (uint64_t)status.st_ino == o->schedstat_inode;
}

/* ---- reading ---- */

#if defined(__x86_64__)
/* As include/uapi/linux/perf_event.h describes it. False when the event is not on a counter now, or shares it with others. */
static bool read_by_instruction(const struct perf_event_mmap_page *page, int64_t *value)
{
    const volatile struct perf_event_mmap_page *p = page;
    uint32_t sequence;
    bool direct;
    do {
        sequence = p->lock;
        INSTR_BARRIER();
        const uint32_t index = p->index;
        int64_t count = p->offset;
        direct = p->cap_user_rdpmc && index != 0 && p->time_enabled == p->time_running;
        if (direct) {
            const unsigned shift = 64u - p->pmc_width;
            const uint64_t raw = instr_arch_read_counter(index - 1);
            count += (int64_t)(raw << shift) >> shift;
        }
        *value = count;
        INSTR_BARRIER();
    } while (p->lock != sequence);
    return direct;
}
#endif

/* All events of the group that `leader` leads. */
static void read_group(const struct open_counters *o, uint32_t leader, int64_t *values, uint32_t *flags)
{
    struct {
        uint64_t count;
        uint64_t enabled;
        uint64_t running;
        uint64_t value[MOST];
    } read_out;
    uint64_t id = 0;
    if (ioctl(o->fd[leader], PERF_EVENT_IOC_ID, &id) != 0 || id != o->id[leader])
        return;
    const ssize_t bytes = read(o->fd[leader], &read_out, sizeof read_out);
    if (bytes < 24 || read_out.count > MOST || (size_t)bytes < 24 + 8 * (size_t)read_out.count || read_out.running == 0)
        return;
    const bool shared = read_out.enabled != read_out.running;
    uint32_t member = 0;
    for (uint32_t i = leader; i < counter_count && member < read_out.count; i++) {
        if (o->fd[i] < 0 || o->group[i] != leader)
            continue;
        const uint64_t value = read_out.value[member++];
        values[i] = (int64_t)instr_perf_scaled(value, read_out.enabled, read_out.running);
    }
    if (shared)
        *flags |= INSTR_COUNTERS_SCALED;
}

static void read_schedstat(const struct open_counters *o, int64_t *values)
{
    char text[96];
    int64_t numbers[3];
    const ssize_t count = pread(o->schedstat, text, sizeof text - 1, 0);
    if (count <= 0)
        return;
    text[count] = '\0';
    const char *p = text;
    for (unsigned i = 0; i < 3; i++) {
        if (!instr_parse_integer(p, &numbers[i]))
            return;
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    for (uint32_t i = 0; i < counter_count; i++)
        if (counters[i].attr.type == SCHEDSTAT)
            values[i] = numbers[counters[i].attr.config];
}

/* All counters of a thread; on that thread itself, `own`, without a system call where the processor allows it. */
static uint32_t read_all(const struct open_counters *o, int64_t *values, bool own)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; i < counter_count; i++)
        values[i] = MISSING;
    for (uint32_t leader = 0; leader < counter_count; leader++) {
        bool direct = false;
#if defined(__x86_64__)
        direct = own;
        for (uint32_t i = leader; i < counter_count && direct && o->members[leader] != 0; i++)
            if (o->fd[i] >= 0 && o->group[i] == leader)
                direct = o->page[i] != NULL && read_by_instruction(o->page[i], &values[i]);
#else
        (void)own;
#endif
        if (!direct && o->members[leader] != 0)
            read_group(o, leader, values, &flags);
    }
    if (o->uses_schedstat && is_schedstat(o))
        read_schedstat(o, values);
    return flags;
}

void instr_counters_read(struct instr_thread *t)
{
    int64_t values[MOST];
    struct instr_slot slot;
    if (t->counters == NULL)
        return;
    const uint32_t flags = read_all(t->counters, values, true);
    uint32_t *p = instr_open(t, &slot, INSTR_EV_THREAD_COUNTERS, 2 + 2 * (size_t)counter_count);
    if (p == NULL)
        return;
    p = instr_put32(instr_put32(p, flags), counter_count);
    for (uint32_t i = 0; i < counter_count; i++)
        p = instr_put64(p, (uint64_t)values[i]);
    instr_close(&slot);
}

/* ---- closing ---- */

static void close_all(struct open_counters *o)
{
    bool gone = o->schedstat >= 0 && !is_schedstat(o);
    for (uint32_t i = counter_count; i-- > 0;) {
        uint64_t id = 0;
        if (o->page[i] != NULL)
            (void)munmap(o->page[i], (size_t)sysconf(_SC_PAGESIZE));
        if (o->fd[i] >= 0 && ioctl(o->fd[i], PERF_EVENT_IOC_ID, &id) == 0 && id == o->id[i])
            close(o->fd[i]);
        else if (o->fd[i] >= 0)
            gone = true;
    }
    if (is_schedstat(o))
        close(o->schedstat);
    if (gone && instr_settings.trouble == NULL)
        instr_settings.trouble = "the program closed descriptors of INSTR_COUNTERS; these count no further there";
    o->used = false;
}

/* The last values; into the window as it is, or a new packet when there is no room. */
static void record_last(struct instr_thread *t)
{
    int64_t values[MOST];
    uint32_t words[2 + 2 * MOST];
    const size_t count = 2 + 2 * (size_t)counter_count;
    const uint32_t flags = read_all(t->counters, values, false);
    uint32_t *p = instr_put32(instr_put32(words, flags | INSTR_COUNTERS_LAST), counter_count);
    for (uint32_t i = 0; i < counter_count; i++)
        p = instr_put64(p, (uint64_t)values[i]);
    if ((size_t)(t->slot_end - t->cursor) < 8 + 4 * count && !instr_packet_turn(t))
        instr_lose(t, 1);
    else if ((size_t)(t->slot_end - t->cursor) >= 8 + 4 * count)
        (void)instr_packet_append(t, INSTR_EV_THREAD_COUNTERS, words, (unsigned)count);
}

void instr_counters_close(struct instr_thread *t)
{
    record_last(t);
    close_all(t->counters);
    t->counters = NULL;
}

void instr_counters_forked(void)
{
    for (struct open_counters *o = all; o != NULL; o = o->next)
        if (o->used)
            close_all(o);
}

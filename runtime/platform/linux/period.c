/*
 * The thread that reads sensors on a period. It is there only when a period was asked for; it has every signal blocked, gives way to
 * the program's threads (nice 19), and ends before the trace does.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/record.h"
#include "core/registry.h"
#include "platform/platform.h"
#include "sensors/sensors.h"

#define STACK_BYTES (256u * 1024u) /* thread-local storage of the program is taken from it */
#define PATIENCE_S 2               /* a reading that hangs in the kernel does not keep the program from ending */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint64_t period_ns;
    bool stop;
    bool done;
    pthread_t thread;
} period = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timespec after(struct timespec t, uint64_t ns)
{
    const uint64_t sum = (uint64_t)t.tv_nsec + ns % 1000000000u;
    t.tv_sec += (time_t)(ns / 1000000000u + sum / 1000000000u);
    t.tv_nsec = (long)(sum % 1000000000u);
    return t;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/*
 * Whether the program's threads have all ended: the initial one by pthread_exit(), then the others. The process ends with its last
 * thread, so that must not be this one, waiting. /proc/self/task has two links and one for each thread, an ended initial one included.
 */
static bool is_alone(void)
{
    struct stat tasks;
    char text[128];
    if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > 4)
        return false;
    const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    if (count <= 0)
        return false;
    text[count] = '\0';
    const char *name_end = strrchr(text, ')'); /* "4711 (name) S …" */
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'Z';
}

/* Sleeps until `when`; true when the thread is to end. */
static bool sleep_until(const struct timespec *when)
{
    pthread_mutex_lock(&period.lock);
    while (!period.stop && pthread_cond_timedwait(&period.wake, &period.lock, when) == 0)
        ;
    const bool stop = period.stop;
    pthread_mutex_unlock(&period.lock);
    return stop;
}

static void *run(void *unused)
{
    (void)unused;
    (void)setpriority(PRIO_PROCESS, (id_t)instr_platform_tid(), 19);
    struct instr_thread *t = instr_attach_own();
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (t != NULL) {
        instr_sensors_read(t, INSTR_AT_PERIOD);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        next = after(next, period.period_ns);
        if (is_before(&next, &now)) /* readings that were missed are not made up for */
            next = after(now, period.period_ns);
        if (sleep_until(&next) || is_alone())
            break;
    }
    if (t != NULL)
        instr_sensors_read(t, INSTR_AT_PERIOD);
    pthread_mutex_lock(&period.lock);
    period.done = true;
    pthread_cond_broadcast(&period.wake);
    pthread_mutex_unlock(&period.lock);
    return NULL;
}

static const char *period_begin(uint64_t period_ns)
{
    pthread_attr_t attributes;
    pthread_condattr_t clock;
    sigset_t all;
    sigset_t before;
    period.period_ns = period_ns;
    period.stop = period.done = false;
    pthread_mutex_init(&period.lock, NULL); /* again, in a forked child */
    if (pthread_condattr_init(&clock) != 0 || pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&period.wake, &clock) != 0)
        return "there is no clock to wait on";
    if (pthread_attr_init(&attributes) != 0)
        return "a thread cannot be made";
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&period.thread, &attributes, run, NULL);
    if (failed != 0) { /* large thread-local storage needs a larger stack */
        (void)pthread_attr_setstacksize(&attributes, 32 * (size_t)STACK_BYTES);
        failed = pthread_create(&period.thread, &attributes, run, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed == 0 ? NULL : "a thread cannot be made";
}

static void period_end(void)
{
    struct timespec give_up;
    if (pthread_equal(pthread_self(), period.thread)) { /* the last thread of the process ends it */
        pthread_detach(period.thread);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &give_up);
    give_up.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&period.lock);
    period.stop = true;
    pthread_cond_broadcast(&period.wake);
    while (!period.done && pthread_cond_timedwait(&period.wake, &period.lock, &give_up) == 0)
        ;
    const bool done = period.done;
    pthread_mutex_unlock(&period.lock);
    if (done)
        pthread_join(period.thread, NULL);
    else
        pthread_detach(period.thread);
}

/* Threads and locks of the runtime's own are none of the program's, whose calls may be recorded (probes/pthread.h). */
const char *instr_sensors_period_begin(uint64_t period_ns)
{
    const bool inside = instr_inside;
    instr_inside = true;
    const char *const trouble = period_begin(period_ns);
    instr_inside = inside;
    return trouble;
}

void instr_sensors_period_end(void)
{
    const bool inside = instr_inside;
    instr_inside = true;
    period_end();
    instr_inside = inside;
}

/*
 * RTEMS 5 and 6, with or without SMP. The program is one static image: there is one module, no fork and no second process.
 *
 * Threads are attached when they record their first event, and leave through the thread_terminate extension. Before the system is up
 * nothing here is called: recording begins in a constructor, which the initial thread runs.
 */
#define _GNU_SOURCE

#include "core/cold.h"

#include "platform/rtems/system.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rtems.h>
#include <rtems/bspIo.h>
#include <rtems/score/percpu.h>
#include <rtems/score/sysstate.h>
#include <rtems/score/thread.h>
#include <rtems/thread.h>

#include "core/config.h"
#include "core/process.h"
#include "core/settings.h"
#include "core/static_config.h"
#include "core/thread.h"
#include "instr/rtems.h"
#include "platform/platform.h"
#include "platform/rtems/io.h"

volatile bool instr_rtems_dying;

static rtems_id initial; /* the thread that ran the constructors */

uint32_t instr_platform_pid(void)
{
    return 1;
}

uint32_t instr_platform_tid(void)
{
    return rtems_task_self();
}

bool instr_platform_is_initial_thread(void)
{
    return rtems_task_self() == initial;
}

uint32_t instr_rtems_processor(void)
{
#if defined(__RTEMS_MAJOR__) && __RTEMS_MAJOR__ < 5
    return rtems_get_current_processor();
#else
    return rtems_scheduler_get_processor();
#endif
}

/* A yield would not do: threads of lower priority must go on too. */
bool instr_platform_wait(void)
{
    if (instr_rtems_dying)
        return false;
    (void)rtems_task_wake_after(1);
    return true;
}

void instr_platform_yield(void)
{
    (void)instr_platform_wait();
}

/* Of RTEMS 5 and later: a thread that waits gives its priority to the one that goes first, and goes on when that one is done. */
static rtems_mutex locks[INSTR_LOCKS] = {RTEMS_MUTEX_INITIALIZER("instr"), RTEMS_MUTEX_INITIALIZER("instr pool"),
                                         RTEMS_MUTEX_INITIALIZER("instr console")};

void instr_platform_lock(unsigned lock)
{
    if (!instr_rtems_dying)
        rtems_mutex_lock(&locks[lock]);
}

void instr_platform_unlock(unsigned lock)
{
    if (!instr_rtems_dying)
        rtems_mutex_unlock(&locks[lock]);
}

bool instr_platform_in_interrupt(void)
{
    return rtems_interrupt_is_in_progress();
}

static uint32_t lost[INSTR_CFG_PROCESSORS];

void instr_platform_lose(void)
{
    instr_io_count(&lost[instr_rtems_processor() % INSTR_CFG_PROCESSORS]);
}

uint64_t instr_platform_lost(void)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < INSTR_CFG_PROCESSORS; i++)
        all += lost[i];
    return all;
}

void instr_platform_thread_name(char *name, size_t bytes)
{
    name[0] = '\0';
    (void)pthread_getname_np(pthread_self(), name, bytes); /* of a classic task too; a long one is cut short */
    name[bytes - 1] = '\0';
}

void instr_platform_fence_all(void)
{
    /* Store buffers of other processors have drained when a clock tick is over. */
    if (!instr_rtems_dying)
        (void)rtems_task_wake_after(2);
}

const char *instr_platform_getenv(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : instr_static_setting(name);
}

bool instr_platform_executable(char *path, size_t bytes)
{
    const char *program = instr_config.program;
    if (program == NULL || strlen(program) >= bytes)
        return false;
    memcpy(path, program, strlen(program) + 1);
    return true;
}

void instr_platform_hostname(char *name, size_t bytes)
{
    static const char NAME[] = "rtems";
    const size_t count = bytes < sizeof NAME ? bytes : sizeof NAME;
    memcpy(name, NAME, count);
    name[bytes - 1] = '\0';
}

/* There is no source of randomness: the clocks tell one run from another. */
void instr_platform_random(uint8_t *bytes, size_t count)
{
    uint64_t state = instr_platform_realtime_ns() ^ instr_platform_monotonic_ns() << 20 ^ instr_rtems_ticks() << 8;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(state >> 56);
    }
}

uintptr_t instr_platform_code(void)
{
    return (uintptr_t)instr_platform_code; /* the program is one piece */
}

const char *instr_platform_name(void)
{
    return INSTR_ARCH_NAME "-rtems";
}

void instr_platform_enter(struct instr_guest *guest)
{
    guest->error = errno;
    guest->cancel = 0;
}

void instr_platform_leave(const struct instr_guest *guest)
{
    errno = guest->error;
}

void instr_platform_console(const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rtems_putc(text[i]);
}

void instr_platform_say(const char *text)
{
    instr_platform_console(text, strlen(text));
}

/* ---- beginning and end ---- */

void instr_platform_watch_thread(struct instr_thread *t)
{
    (void)t; /* thread_terminate does */
}

/* On the thread that ends, while it can still wait and write. */
static void terminated(struct _Thread_Control *thread)
{
    struct instr_thread *t = instr_self;
    if (thread == _Thread_Get_executing() && t != NULL && !instr_rtems_dying)
        instr_thread_ended(t);
}

static const rtems_extensions_table WITH_SWITCHES = {
    .thread_switch = instr_rtems_switched,
    .thread_terminate = terminated,
};

static const rtems_extensions_table WITHOUT_SWITCHES = {
    .thread_terminate = terminated,
};

/* What the destructor of the core does elsewhere. */
static void exits(void)
{
    if (instr_memory_heap != NULL)
        instr_memory_heap();
    instr_finish();
}

void instr_platform_watch_process(void *page, size_t bytes)
{
    static bool watched;
    (void)page;
    (void)bytes;
    if (watched)
        return;
    watched = true;
    initial = rtems_task_self();
    (void)atexit(exits);
}

void instr_platform_started(void)
{
    rtems_id id;
    if (!_System_state_Is_up(_System_state_Get()))
        return;
    if (instr_settings.switches)
        instr_rtems_switches_begin();
    /* Without a place for it (CONFIGURE_MAXIMUM_USER_EXTENSIONS) there are no switches, and threads end when the trace does. */
    if (rtems_extension_create(rtems_build_name('I', 'N', 'S', 'T'), instr_settings.switches ? &WITH_SWITCHES : &WITHOUT_SWITCHES, &id) != RTEMS_SUCCESSFUL &&
        instr_settings.trouble == NULL)
        instr_settings.trouble = "no room for a user extension: no context switches; see CONFIGURE_MAXIMUM_USER_EXTENSIONS";
}

void instr_platform_unwatch(void)
{
}

void instr_rtems_fatal(rtems_fatal_source source, bool always_set_to_false, rtems_fatal_code code)
{
    (void)source;
    (void)always_set_to_false;
    (void)code;
    if (instr_rtems_dying || instr_settings.sink != INSTR_SINK_CONSOLE)
        return;
    instr_rtems_dying = true;
    instr_break_lock();
    instr_finish();
}

/* ---- the image ---- */

/* The end of the program and its data, from RTEMS' linker scripts. */
extern char _end[] __attribute__((weak));

void instr_platform_modules(instr_module_fn *fn, void *arg)
{
    const char *program = instr_config.program;
    fn(arg, 0, (uintptr_t)_end, NULL, 0, program != NULL ? program : "");
}

uint64_t instr_platform_module_generation(void)
{
    return 0;
}

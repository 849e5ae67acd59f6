/* Threads, processors, clocks, timers and extensions of the board. */
#define _GNU_SOURCE
#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtems.h>
#include <rtems/bspIo.h>
#include <rtems/counter.h>
#include <rtems/malloc.h>
#include <rtems/score/percpu.h>
#include <rtems/score/sysstate.h>
#include <rtems/score/thread.h>
#include <rtems/thread.h>

#include "core/static_config.h"

#define MAX_THREADS 256u
#define MAX_TIMERS 8u
#define FIRST_COUNT 0xfff00000u /* wraps 4 ms after the start */
#define FIRST_ID 0x0b010001u    /* a POSIX thread of node 1 */

System_state_Codes _System_state_Current = SYSTEM_STATE_UP;

/* Of a board whose malloc() is the host's; heap.c brings another. */
static Heap_Control heap = {.area_begin = 0x100000, .area_end = 0x900000, .stats = {.size = 0x800000, .free_size = 0x600000}};
__attribute__((weak)) Heap_Control *RTEMS_Malloc_Heap = &heap;

static Thread_Control threads[MAX_THREADS];
static atomic_uint thread_count;
static __thread Thread_Control *self;
static __thread uint32_t switching = UINT32_MAX; /* the processor whose switch runs on this host thread */

static rtems_extensions_table extension;
static atomic_bool has_extension;
static pthread_mutex_t extension_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t switches[BOARD_PROCESSORS];
static atomic_ulong refused_writes;
static atomic_ulong interrupt_writes;
static atomic_ulong sleeps; /* of threads, the clock's apart */
static atomic_bool running = true;
static pthread_t ticker;

static struct {
    rtems_timer_service_routine_entry routine;
    void *data;
    uint64_t due;
    uint32_t processor;
    bool samples; /* interrupts a thread; those of the runtime but one run between threads */
} timers[MAX_TIMERS];
static atomic_uint timer_count;
static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_timers(void)
{
    if (!board_in_interrupt)
        board_interrupts_block(true);
    pthread_mutex_lock(&timer_lock);
}

static void unlock_timers(void)
{
    pthread_mutex_unlock(&timer_lock);
    if (!board_in_interrupt)
        board_interrupts_block(false);
}

/* ---- time ---- */

static uint64_t host_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t start_ns;

uint64_t rtems_clock_get_uptime_nanoseconds(void)
{
    return host_ns() - start_ns;
}

rtems_interval rtems_clock_get_ticks_per_second(void)
{
    return BOARD_TICKS_PER_SECOND;
}

rtems_counter_ticks rtems_counter_read(void)
{
    return (uint32_t)(FIRST_COUNT + (host_ns() - start_ns) / (1000000000u / BOARD_HZ));
}

uint32_t rtems_counter_frequency(void)
{
    return BOARD_HZ;
}

/* ---- threads and processors ---- */

static pthread_key_t end_key;

static void ended(void *thread)
{
    board_thread_ends(thread);
    if (atomic_load(&has_extension) && extension.thread_terminate != NULL)
        extension.thread_terminate(thread);
}

struct _Thread_Control *_Thread_Get_executing(void)
{
    if (self != NULL)
        return self;
    const uint32_t number = atomic_fetch_add(&thread_count, 1) % MAX_THREADS;
    Thread_Control *t = &threads[number];
    pthread_attr_t attributes;
    t->processor = number % BOARD_PROCESSORS;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &t->Start.Initial_stack.area, &t->Start.Initial_stack.size);
        pthread_attr_destroy(&attributes);
    }
    self = t;
    pthread_setspecific(end_key, t);
    board_thread_begins(t, number);
    return t;
}

rtems_id board_thread_id(void)
{
    return self != NULL ? self->Object.id : 0;
}

rtems_id rtems_task_self(void)
{
    return _Thread_Get_executing()->Object.id;
}

static void sleep_ticks(rtems_interval ticks)
{
    const struct timespec pause = {0, (long)ticks * (1000000000 / (long)BOARD_TICKS_PER_SECOND)};
    nanosleep(&pause, NULL);
}

/* RTEMS ends with a fatal error (INTERNAL_ERROR_THREAD_QUEUE_ENQUEUE_FROM_BAD_STATE or a bad dispatch level). */
static void must_not_be_in_interrupt(const char *what)
{
    if (board_in_interrupt) {
        fprintf(stderr, "board: %s in an interrupt\n", what);
        abort();
    }
}

rtems_status_code rtems_task_wake_after(rtems_interval ticks)
{
    must_not_be_in_interrupt("rtems_task_wake_after");
    atomic_fetch_add(&sleeps, 1);
    sleep_ticks(ticks);
    return RTEMS_SUCCESSFUL;
}

void rtems_mutex_lock(rtems_mutex *mutex)
{
    must_not_be_in_interrupt(mutex->name);
    pthread_mutex_lock(&mutex->host);
}

void rtems_mutex_unlock(rtems_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->host);
}

bool board_is_in_interrupt(void)
{
    return board_in_interrupt;
}

uint32_t rtems_scheduler_get_processor(void)
{
    return switching != UINT32_MAX ? switching : _Thread_Get_executing()->processor;
}

uint32_t rtems_scheduler_get_processor_maximum(void)
{
    return BOARD_PROCESSORS;
}

rtems_status_code rtems_task_get_affinity(rtems_id id, size_t cpusetsize, cpu_set_t *cpuset)
{
    (void)id;
    (void)cpusetsize;
    CPU_ZERO(cpuset);
    for (uint32_t i = 0; i < BOARD_PROCESSORS; i++)
        CPU_SET(i, cpuset);
    return RTEMS_SUCCESSFUL;
}

/* The executing thread goes on on the first of the processors, if it is on none of them. */
rtems_status_code rtems_task_set_affinity(rtems_id id, size_t cpusetsize, const cpu_set_t *cpuset)
{
    Thread_Control *t = _Thread_Get_executing();
    (void)id;
    (void)cpusetsize;
    for (uint32_t i = 0; i < BOARD_PROCESSORS && !CPU_ISSET(t->processor, cpuset); i++)
        t->processor = CPU_ISSET(i, cpuset) ? i : t->processor;
    return RTEMS_SUCCESSFUL;
}

uint32_t board_interrupts_off(void)
{
    return 0;
}

void board_interrupts_on(uint32_t level)
{
    (void)level;
}

/* ---- extensions and timers ---- */

static void switch_all(void);

rtems_status_code rtems_extension_create(rtems_name name, const rtems_extensions_table *table, rtems_id *id)
{
    (void)name;
    if (getenv("BOARD_NO_EXTENSIONS") != NULL)
        return RTEMS_TOO_MANY;
    pthread_mutex_lock(&extension_lock);
    extension = *table;
    atomic_store(&has_extension, true);
    pthread_mutex_unlock(&extension_lock);
    *id = 1;
    for (unsigned i = 0; i < 5; i++) /* a short program on a busy machine sees some too */
        switch_all();
    return RTEMS_SUCCESSFUL;
}

rtems_status_code rtems_timer_create(rtems_name name, rtems_id *id)
{
    const char *most = getenv("BOARD_TIMERS");
    if (timer_count == (most != NULL ? strtoul(most, NULL, 10) : MAX_TIMERS))
        return RTEMS_TOO_MANY;
    *id = atomic_fetch_add(&timer_count, 1);
    timers[*id].processor = rtems_scheduler_get_processor(); /* it fires where it was made */
    timers[*id].samples = name >> 8 != rtems_build_name('I', 'N', 'S', 0) >> 8 || (name & 0xffu) == 'P';
    return RTEMS_SUCCESSFUL;
}

static uint64_t tick;

rtems_status_code rtems_timer_fire_after(rtems_id id, rtems_interval ticks, rtems_timer_service_routine_entry routine, void *user_data)
{
    if (id >= timer_count)
        return RTEMS_INVALID_ID;
    lock_timers();
    timers[id].routine = routine;
    timers[id].data = user_data;
    timers[id].due = tick + ticks;
    unlock_timers();
    return RTEMS_SUCCESSFUL;
}

rtems_status_code rtems_timer_cancel(rtems_id id)
{
    if (id >= timer_count)
        return RTEMS_INVALID_ID;
    lock_timers();
    timers[id].routine = NULL;
    unlock_timers();
    return RTEMS_SUCCESSFUL;
}

/* The thread that the processor runs. */
static Thread_Control *runs_on(uint32_t processor)
{
    const uint32_t count = atomic_load(&thread_count) < MAX_THREADS ? atomic_load(&thread_count) : MAX_THREADS;
    for (uint32_t i = 0; i < count; i++)
        if (threads[i].processor == processor && atomic_load(&threads[i].alive))
            return &threads[i];
    return NULL;
}

static void fire_timers(void)
{
    for (uint32_t i = 0; i < timer_count; i++) {
        lock_timers();
        const rtems_timer_service_routine_entry routine = timers[i].due <= tick ? timers[i].routine : NULL;
        void *data = timers[i].data;
        const bool samples = timers[i].samples;
        if (routine != NULL)
            timers[i].routine = NULL;
        unlock_timers();
        if (routine == NULL)
            continue;
        if (!samples) {
            routine(i, data);
            continue;
        }
        Thread_Control *thread = runs_on(timers[i].processor);
        if (thread != NULL && board_interrupt(thread, routine, i, data))
            continue;
        lock_timers();
        timers[i].routine = routine; /* it fires with the next tick */
        unlock_timers();
    }
}

/* Threads that processors switch between: the first two, of which one may not have begun yet, and all that have. */
static uint32_t circle(void)
{
    const uint32_t count = atomic_load(&thread_count);
    return count < 2 ? 2 : count < MAX_THREADS ? count : MAX_THREADS;
}

/* The thread that a processor's next switch leaves. */
Per_CPU_Control *_Per_CPU_Get_by_index(uint32_t index)
{
    static Per_CPU_Control processors[BOARD_PROCESSORS];
    processors[index].executing = &threads[(tick + index) % circle()];
    return &processors[index];
}

/* Every processor leaves its thread for the next one in a circle. */
static void switch_all(void)
{
    const uint32_t count = circle();
    pthread_mutex_lock(&extension_lock);
    for (uint32_t i = 0; i < BOARD_PROCESSORS && atomic_load(&has_extension); i++) {
        switching = i;
        if (extension.thread_switch != NULL)
            extension.thread_switch(&threads[(tick + i) % count], &threads[(tick + i + 1) % count]);
        switches[i]++;
        switching = UINT32_MAX;
    }
    pthread_mutex_unlock(&extension_lock);
    for (uint32_t i = 0; i < count && tick % 8 == 0; i++)
        threads[i].processor = (threads[i].processor + 1) % BOARD_PROCESSORS;
}

static void console_noise(void);
static uint64_t fatal_tick;
static uint64_t ticks_recorded;
static void die(void);

static void *run_clock(void *unused)
{
    (void)unused;
    while (atomic_load(&running)) {
        sleep_ticks(1);
        tick++;
        board_devices_tick(tick);
        fire_timers();
        switch_all();
        console_noise();
        ticks_recorded += atomic_load(&thread_count) >= 4;
        if (ticks_recorded == fatal_tick && fatal_tick != 0)
            die();
    }
    return NULL;
}

/* ---- console and files ---- */

static pthread_mutex_t console_lock = PTHREAD_MUTEX_INITIALIZER;
static int console = -1;
static char line[512];
static size_t line_used;
static bool noise;

static void put(const char *bytes, size_t count)
{
    if (console >= 0 && write(console, bytes, count) < 0)
        console = -1;
}

void rtems_putc(char c)
{
    pthread_mutex_lock(&console_lock);
    line[line_used++] = c;
    if (c == '\n' || line_used == sizeof line) {
        put(line, line_used);
        line_used = 0;
    }
    pthread_mutex_unlock(&console_lock);
}

static void console_noise(void)
{
    if (!noise)
        return;
    pthread_mutex_lock(&console_lock);
    if (tick % 5 == 0)
        put("board: a tick has passed\r\n", 26);
    else if (tick % 7 == 0)
        put("no newline yet> ", 16);
    pthread_mutex_unlock(&console_lock);
}

ssize_t __real_write(int fd, const void *bytes, size_t count);
ssize_t __wrap_write(int fd, const void *bytes, size_t count);

ssize_t __wrap_write(int fd, const void *bytes, size_t count)
{
    if (board_in_interrupt)
        atomic_fetch_add(&interrupt_writes, 1);
    if (count > BOARD_WRITE_MAX) {
        atomic_fetch_add(&refused_writes, 1);
        errno = EINVAL;
        return -1;
    }
    return __real_write(fd, bytes, count);
}

/* ---- beginning and end ---- */

__attribute__((constructor(101))) static void power_on(void)
{
    const char *name = getenv("BOARD_CONSOLE");
    start_ns = host_ns();
    for (uint32_t i = 0; i < MAX_THREADS; i++)
        threads[i].Object.id = FIRST_ID + i;
    pthread_key_create(&end_key, ended);
    noise = getenv("BOARD_NOISE") != NULL;
    if (name != NULL && (console = open(name, O_WRONLY | O_CREAT | O_APPEND, 0666)) < 0)
        abort();
    (void)_Thread_Get_executing();
    const char *fatal = getenv("BOARD_FATAL");
    fatal_tick = fatal != NULL ? strtoull(fatal, NULL, 10) : 0;
    pthread_create(&ticker, NULL, run_clock, NULL);
}

/* The last one registered is the first that is called. */
__attribute__((constructor)) static void power_is_on(void)
{
    const char *fatal = getenv("BOARD_FATAL");
    if (fatal != NULL && strcmp(fatal, "exit") == 0)
        atexit(die);
}

static void write_report(void)
{
    const char *name = getenv("BOARD_REPORT");
    FILE *to = name != NULL ? fopen(name, "w") : NULL;
    if (to == NULL)
        return;
    for (uint32_t i = 0; i < BOARD_PROCESSORS; i++)
        fprintf(to, "switches %u %llu\n", (unsigned)i, (unsigned long long)switches[i]);
    fprintf(to, "refused-writes %lu\n", (unsigned long)refused_writes);
    fprintf(to, "writes-in-interrupts %lu\n", (unsigned long)interrupt_writes);
    fprintf(to, "sleeps %lu\n", (unsigned long)sleeps);
    fprintf(to, "switch-extension %d\n", extension.thread_switch != NULL);
    fprintf(to, "heap %lu %lu\n", (unsigned long)RTEMS_Malloc_Heap->stats.size, (unsigned long)RTEMS_Malloc_Heap->stats.free_size);
    board_interrupts_report(to);
    board_devices_report(to);
    fclose(to);
}

static void write_image(void)
{
    const char *name = getenv("BOARD_IMAGE");
    FILE *to = name != NULL ? fopen(name, "wb") : NULL;
    if (to != NULL) {
        fwrite(instr_config.pool, 1, instr_config.pool_bytes, to);
        fclose(to);
    }
}

void instr_rtems_fatal(rtems_fatal_source source, bool always_set_to_false, rtems_fatal_code code);

/* As _Terminate() does: the extensions first, the other processors go on meanwhile. */
static void die(void)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&once)) {
        instr_rtems_fatal(RTEMS_FATAL_SOURCE_EXCEPTION, false, 2);
        write_image();
        write_report();
        _exit(3);
    }
    for (;;)
        pause();
}

/* After the handlers of atexit, as a debugger that stops the board. */
__attribute__((destructor(102))) static void power_off(void)
{
    atomic_store(&running, false);
    pthread_join(ticker, NULL);
    write_image();
    write_report();
}

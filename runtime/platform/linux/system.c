/* Linux with glibc (other C libraries with pthreads and dl_iterate_phdr work too). */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "core/given_config.h"
#include "core/process.h"
#include "core/settings.h"
#include "core/static_config.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MEMBARRIER_CMD_GLOBAL
#define MEMBARRIER_CMD_GLOBAL 1
#endif
#define EXPEDITED 8           /* MEMBARRIER_CMD_PRIVATE_EXPEDITED, linux/membarrier.h */
#define REGISTER_EXPEDITED 16 /* MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED */

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    if (clock_gettime(id, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__) || defined(__sparc__) || INSTR_KEEPS_RUNS
/* Reads the start of a small file; the count of bytes, 0 when it cannot be read. */
static size_t read_file(const char *path, char *buffer, size_t bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t count = read(fd, buffer, bytes);
    close(fd);
    return count > 0 ? (size_t)count : 0;
}
#endif

#if INSTR_KEEPS_RUNS
static uint64_t ahead; /* of the system's clock: the process may be in a time namespace */

/* Whether the offsets that the kernel tells, which are those of new children, are the process's own: time_namespaces(7). */
static bool is_in_childrens_time(void)
{
    char own[64];
    char childrens[64];
    const ssize_t length = readlink("/proc/self/ns/time", own, sizeof own);
    return length > 0 && readlink("/proc/self/ns/time_for_children", childrens, sizeof childrens) == length &&
           memcmp(own, childrens, (size_t)length) == 0;
}

bool instr_platform_find_clock(void)
{
    static const char KEY[] = "monotonic";
    char text[128];
    const size_t length = is_in_childrens_time() ? read_file("/proc/self/timens_offsets", text, sizeof text - 1) : 0;
    text[length] = '\0';
    if (strncmp(text, KEY, sizeof KEY - 1) != 0)
        return false;
    const uint64_t before = ahead;
    char *end = text + sizeof KEY - 1;
    const int64_t seconds = strtoll(end, &end, 10);
    ahead = (uint64_t)seconds * 1000000000u + (uint64_t)strtoll(end, &end, 10);
    return ahead != before;
}

uint64_t instr_platform_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC) - ahead;
}
#else
uint64_t instr_platform_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}
#endif

uint64_t instr_platform_realtime_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

#if defined(__x86_64__)
/*
 * Whether the processor's counter is the same on all processors, by the clock that the kernel uses: it leaves a counter that is not. Clocks of
 * hypervisors (KVM, Hyper-V, Xen) are computed from the counter; that it counts at one speed the processor has said before.
 */
static bool same_everywhere(const char *clock)
{
    static const char USED[][4] = {"tsc", "kvm", "hyp", "xen"};
    for (size_t i = 0; i < sizeof USED / sizeof USED[0]; i++)
        if (memcmp(clock, USED[i], 3) == 0)
            return true;
    return false;
}
#elif defined(__sparc__)
/* The same for SPARC V9: where the kernel counts by %stick or a device, %tick is each processor's own (Linux, arch/sparc/kernel/time_64.c). */
static bool same_everywhere(const char *clock)
{
    return memcmp(clock, "sti", 3) != 0 && memcmp(clock, "hbt", 3) != 0;
}
#endif

bool instr_platform_ticks_ok(void)
{
    if (!instr_arch_ticks_ok(getauxval(AT_HWCAP)))
        return false;
#if defined(__x86_64__) || defined(__sparc__)
    char name[8];
    return read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name) < 3 || same_everywhere(name);
#else
    return true;
#endif
}

uint32_t instr_platform_pid(void)
{
    return (uint32_t)getpid();
}

uint32_t instr_platform_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

bool instr_platform_is_initial_thread(void)
{
    return instr_platform_tid() == instr_platform_pid();
}

void instr_platform_yield(void)
{
    sched_yield();
}

#if !INSTR_ARCH_SMALL
static
#endif
void instr_platform_pause(void)
{
    const struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
}

#if !INSTR_ARCH_SMALL
#define FUTEX_SLEEP 128 /* FUTEX_WAIT and FUTEX_WAKE, each with FUTEX_PRIVATE_FLAG: linux/futex.h */
#define FUTEX_WAKE_UP 129

void instr_platform_sleep_on(const uint32_t *word, uint32_t value, uint64_t ns)
{
    const struct timespec most = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    if (syscall(SYS_futex, word, FUTEX_SLEEP, value, &most, NULL, 0) != 0 && errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
        instr_platform_pause(); /* it is not permitted */
}

void instr_platform_wake(const uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_UP, 1, NULL, NULL, 0);
}
#endif

bool instr_platform_wait(void)
{
    sched_yield();
    return true;
}

bool instr_platform_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *instr_platform_getenv(const char *name)
{
    const char *value = secure_getenv(name);
#if INSTR_KEEPS_RUNS
    if (value == NULL)
        value = instr_given_setting(name);
#endif
    return value != NULL ? value : instr_static_setting(name);
}

bool instr_platform_executable(char *path, size_t bytes)
{
    const ssize_t length = readlink("/proc/self/exe", path, bytes - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    return true;
}

void instr_platform_hostname(char *name, size_t bytes)
{
    if (gethostname(name, bytes) != 0)
        name[0] = '\0';
    name[bytes - 1] = '\0';
}

void instr_platform_random(uint8_t *bytes, size_t count)
{
    if (syscall(SYS_getrandom, bytes, count, 1 /* GRND_NONBLOCK */) == (long)count)
        return;
    uint64_t state = instr_platform_realtime_ns() ^ (uint64_t)getpid() << 40 ^ instr_platform_monotonic_ns() << 8;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(state >> 56);
    }
}

uintptr_t instr_platform_code(void)
{
    return getauxval(AT_ENTRY);
}

const char *instr_platform_name(void)
{
#if defined(__x86_64__)
    return "x86_64-linux";
#elif defined(__sparc__) && defined(__arch64__)
    return "sparc64-linux";
#elif defined(__sparc__)
    return "sparc-linux";
#else
    return INSTR_ARCH_NAME "-linux";
#endif
}

/* Of ThreadSanitizer's library, in programs built with it: the C library's functions are its own there, and would take what the
 * runtime writes to a stack for the program's, without knowing the barriers of an OpenMP library that was not built with it. */
extern void __tsan_ignore_thread_begin(void) __attribute__((weak));
extern void __tsan_ignore_thread_end(void) __attribute__((weak));

void instr_platform_enter(struct instr_guest *guest)
{
    /* Not while a sample is taken: the sanitizer may have been interrupted with a lock in its hand, and these want it too. */
    const struct instr_thread *const self = instr_self;
    guest->told = __tsan_ignore_thread_begin != NULL && (self == NULL || self->sampling.taking == 0);
    if (guest->told)
        __tsan_ignore_thread_begin();
    guest->error = errno;
    guest->held = false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guest->cancel);
}

/* The kernel's sets (rt_sigprocmask(2)): bit n - 1 of its words is signal n. */
#define SIGNAL_WORDS (64 / (8 * sizeof(long)))
#define SIGNAL(n) (UINT64_C(1) << ((n) - 1))

/* What a thread's own instructions raise, what ends it, and what the C library has for itself (32 and 33). */
#define FREE_SIGNALS                                                                                                                    \
    (SIGNAL(SIGSEGV) | SIGNAL(SIGBUS) | SIGNAL(SIGFPE) | SIGNAL(SIGILL) | SIGNAL(SIGTRAP) | SIGNAL(SIGSYS) | SIGNAL(SIGABRT) | SIGNAL(32) | SIGNAL(33))

static uint64_t free_signals = FREE_SIGNALS;

void instr_platform_leave_signal(int signal)
{
    if (signal > 0 && signal <= 64)
        free_signals |= SIGNAL(signal);
}

void instr_platform_hold_signals(struct instr_guest *guest)
{
    unsigned long held[SIGNAL_WORDS];
    for (unsigned i = 0; i < SIGNAL_WORDS; i++)
        held[i] = (unsigned long)(~free_signals >> (8 * sizeof(long) * i % 64));
    guest->held = syscall(SYS_rt_sigprocmask, SIG_BLOCK, held, guest->signals, sizeof held) == 0;
}

#if INSTR_ARCH_POSITIVE
/* glibc's: where the initial thread's stack began. */
extern void *__libc_stack_end __attribute__((weak));

bool instr_platform_own_stack(uintptr_t *low, uintptr_t *high)
{
    const uintptr_t most = (uintptr_t)1 << 30;
    struct rlimit limit;
    /* The C library keeps what it knows of another thread at the upper end of its stack. */
    if (!instr_platform_is_initial_thread())
        *high = (uintptr_t)pthread_self();
    else if (&__libc_stack_end != NULL)
        *high = (uintptr_t)__libc_stack_end;
    else
        return false;
    if (getrlimit(RLIMIT_STACK, &limit) != 0)
        return false;
    *low = *high - (limit.rlim_cur < most ? (uintptr_t)limit.rlim_cur : most);
    return *low < *high;
}
#endif

bool instr_platform_signal_stack(uintptr_t *low, uintptr_t *high, bool *on_it)
{
    stack_t stack;
    const int error = errno;
    const bool known = sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0;
    errno = error;
    *low = known ? (uintptr_t)stack.ss_sp : 0;
    *high = known ? *low + stack.ss_size : 0;
    *on_it = known && (stack.ss_flags & SS_ONSTACK) != 0;
    return known;
}

#if INSTR_KEEPS_RUNS
/*
 * Where cancellation is asynchronous and is asked for meanwhile, glibc (2.36) mostly ends a thread that enables it with another result than
 * PTHREAD_CANCELED; one that makes it asynchronous has the right one.
 */
static void enable_cancellation(void)
{
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    if (type != PTHREAD_CANCEL_DEFERRED)
        pthread_setcanceltype(type, NULL);
}
#else
static void enable_cancellation(void)
{
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
}
#endif

void instr_platform_leave(const struct instr_guest *guest)
{
    if (guest->held)
        (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, guest->signals, NULL, sizeof guest->signals);
    if (guest->cancel == PTHREAD_CANCEL_ENABLE)
        enable_cancellation();
    if (guest->told)
        __tsan_ignore_thread_end();
    errno = guest->error;
}

void *instr_platform_memory(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED ? block : NULL;
}

void instr_platform_give_back(void *block, size_t bytes)
{
    (void)munmap(block, bytes);
}

bool instr_platform_replace(void *block, size_t bytes)
{
    return mmap(block, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == block;
}

/* Address space only: pages that no window uses cost nothing. */
void *instr_platform_pool(size_t *bytes)
{
    const size_t window = INSTR_PRIVATE_BYTES + INSTR_WINDOW_HEADER_BYTES + (size_t)instr_settings.buffer;
    *bytes = 2 * INSTR_CFG_RAM_TEXT_BYTES + 4096 + (window < 0x40000000u / 256 ? 256 * window : 0x40000000u);
    void *block = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block != MAP_FAILED ? block : NULL;
}

void instr_platform_console(const char *text, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(STDERR_FILENO, text, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* what is missing shows: lines are numbered */
        text += written;
        count -= (size_t)written;
    }
}

static pthread_key_t thread_key;
static bool has_thread_key;

/* Destructors of the program's keys may record: the C library calls ours once more, behind them, as it has a value again. */
static void thread_ended(void *thread)
{
    struct instr_thread *const t = thread;
    const int error = errno;
    if (!t->ending && instr_ompt_initial_ends != NULL)
        instr_ompt_initial_ends(); /* the key of libomp, which it makes later, is behind ours */
    const bool is_last = t->ending || !has_thread_key || pthread_setspecific(thread_key, t) != 0;
    t->ending = true;
    if (is_last)
        instr_thread_ended(t);
    errno = error;
}

static void make_thread_key(void)
{
    if (!has_thread_key)
        has_thread_key = pthread_key_create(&thread_key, thread_ended) == 0;
}

#ifndef INSTR_SHARED
/*
 * The key comes before those that constructors of libraries make. The C library keeps the values of a thread's first keys (32 in glibc) in
 * the thread itself; for later ones it calls calloc, which no signal handler may do, and a thread's first event may be a handler's.
 */
__attribute__((section(".preinit_array"), used)) static void (*make_key_first)(void) = make_thread_key;
#endif

void instr_platform_watch_thread(struct instr_thread *t)
{
    if (has_thread_key)
        (void)pthread_setspecific(thread_key, t);
}

void instr_platform_fence_all(void)
{
#ifdef SYS_membarrier
    if (syscall(SYS_membarrier, EXPEDITED, 0, 0) == 0 || syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0)
        return;
#endif
    /* No such call: store buffers drain long before this is over. */
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
}

static bool in_child; /* of fork */

static void forked(void)
{
    in_child = true;
#if INSTR_KEEPS_RUNS
    instr_platform_turns_anew();
#endif
    instr_forked();
}

#if INSTR_KEEPS_RUNS
#define IN_PARENT instr_has_forked
#else
#define IN_PARENT NULL
#endif

void instr_platform_watch_process(void *page, size_t bytes)
{
    static bool watched;
    if (bytes % (size_t)getpagesize() == 0) /* where pages are larger, others' variables are on it too */
        (void)madvise(page, bytes, MADV_WIPEONFORK);
#ifdef SYS_membarrier
    (void)syscall(SYS_membarrier, REGISTER_EXPEDITED, 0, 0);
#endif
    if (watched)
        return;
    watched = true;
    make_thread_key();
    (void)at_quick_exit(instr_finish); /* the first one is called last: the program's handlers record */
    (void)pthread_atfork(NULL, IN_PARENT, forked);
}

void instr_platform_started(void)
{
}

void instr_platform_unwatch(void)
{
    if (has_thread_key)
        (void)pthread_key_delete(thread_key);
    has_thread_key = false;
}

struct module_visit {
    instr_module_fn *fn;
    void *arg;
};

/* The descriptor of the NT_GNU_BUILD_ID note, if a PT_NOTE segment holds one. */
static const uint8_t *build_id(const struct dl_phdr_info *info, size_t *bytes)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_NOTE)
            continue;
        const char *note = (const char *)(info->dlpi_addr + ph->p_vaddr);
        const char *const end = note + ph->p_memsz;
        while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)(const void *)note;
            const size_t name = (header->n_namesz + 3u) & ~(size_t)3;
            const size_t desc = (header->n_descsz + 3u) & ~(size_t)3;
            if (name > (size_t)(end - note) || desc > (size_t)(end - note) || sizeof *header + name + desc > (size_t)(end - note))
                break;
            const char *text = note + sizeof *header;
            if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && memcmp(text, "GNU", 4) == 0 &&
                header->n_descsz <= 64) {
                *bytes = header->n_descsz;
                return (const uint8_t *)text + name;
            }
            note += sizeof *header + name + desc;
        }
    }
    *bytes = 0;
    return NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct module_visit *v = arg;
    uintptr_t end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_LOAD && ph->p_vaddr + ph->p_memsz > end)
            end = ph->p_vaddr + ph->p_memsz;
    }
    size_t id_bytes;
    const uint8_t *id = build_id(info, &id_bytes);
    char path[INSTR_CFG_PATH_BYTES];
    const char *name = info->dlpi_name;
    if (name == NULL || name[0] == '\0') /* the executable itself */
        name = instr_platform_executable(path, sizeof path) ? path : "";
    v->fn(v->arg, (uintptr_t)info->dlpi_addr, (uintptr_t)(info->dlpi_addr + end), id, id_bytes, name);
    return 0;
}

static int generation(struct dl_phdr_info *info, size_t size, void *arg)
{
    uint64_t *value = arg;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *value = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

/* Reads this process's memory, and fails where nothing is mapped. */
static bool read_memory(void *to, uintptr_t from, size_t bytes)
{
    const struct iovec local = {to, bytes};
    const struct iovec remote = {(void *)from, bytes};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* The program's own headers, as the kernel told. */
static bool describe_program(struct dl_phdr_info *info)
{
    memset(info, 0, sizeof *info);
    info->dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    info->dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
    info->dlpi_name = "";
    for (int i = 0; info->dlpi_phdr != NULL && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_PHDR)
            info->dlpi_addr = (ElfW(Addr))info->dlpi_phdr - info->dlpi_phdr[i].p_vaddr;
    return info->dlpi_phdr != NULL;
}

/* The dynamic linker's list, which it publishes for debuggers; NULL in static programs. */
static const struct link_map *first_object(const struct dl_phdr_info *program)
{
    for (int i = 0; i < program->dlpi_phnum; i++) {
        if (program->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *d = (const ElfW(Dyn) *)(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr); d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_DEBUG && d->d_un.d_ptr != 0)
                return ((const struct r_debug *)d->d_un.d_ptr)->r_map;
    }
    return NULL;
}

/*
 * dl_iterate_phdr without its lock. A forked child has no other thread, but may have been forked while another thread was inside dlopen:
 * then the lock stays taken for ever. The list itself can be followed at any time; what it names may be gone already.
 */
static void iterate_in_child(int (*fn)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    struct dl_phdr_info info;
    if (!describe_program(&info))
        return;
    const struct link_map *object = first_object(&info);
    if (fn(&info, sizeof info, arg) != 0)
        return;
    for (object = object != NULL ? object->l_next : NULL; object != NULL; object = object->l_next) {
        ElfW(Ehdr) header;
        ElfW(Phdr) segment[16];
        if (!read_memory(&header, (uintptr_t)object->l_addr, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_phnum > 16 || !read_memory(segment, (uintptr_t)(object->l_addr + header.e_phoff), header.e_phnum * sizeof *segment))
            continue;
        info = (struct dl_phdr_info){
            .dlpi_addr = object->l_addr, .dlpi_name = object->l_name, .dlpi_phdr = segment, .dlpi_phnum = header.e_phnum};
        if (fn(&info, sizeof info, arg) != 0)
            return;
    }
}

void instr_platform_modules(instr_module_fn *fn, void *arg)
{
    struct module_visit v = {fn, arg};
    if (in_child)
        iterate_in_child(visit, &v);
    else
        (void)dl_iterate_phdr(visit, &v);
}

/* A sum over where objects are: another one for nearly every other list. */
static int sum(struct dl_phdr_info *info, size_t size, void *arg)
{
    uint64_t *value = arg;
    (void)size;
    *value = *value * 31 + info->dlpi_addr + 1;
    return 0;
}

uint64_t instr_platform_module_generation(void)
{
    uint64_t value = 0;
    if (in_child)
        iterate_in_child(sum, &value);
    else
        (void)dl_iterate_phdr(generation, &value);
    return value;
}

void instr_platform_say(const char *text)
{
    const ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/*
 * Linux: what ends periods is one of two things, which both send a signal to one thread. By default that is SIGURG, which nearly no
 * program takes, and which does nothing where nobody does: a period of perf's that ends inside execve is still on its way when the new
 * program begins (the kernel forgets those of timers there), and would end it if it were SIGPROF.
 *
 *   perf's task clock (perf_event_open(2), F_SETOWN_EX): a high-resolution timer that runs while the thread does. At 1 kHz shares were
 *       right within 0.2 % of 2 s of processor time. Costs a descriptor, and is forbidden on many systems.
 *   POSIX timers (timer_create(2), SIGEV_THREAD_ID): of the thread's processor time; the kernel looks at them at its own ticks (4 ms apart
 *       where it was measured), so that a sample stands for several periods: right within 1 % of the same 2 s. Or of real time.
 *
 * The system calls for timers are made directly: older C libraries allocate a timer's description.
 *
 * Everything that the handler calls, and why it may: clock_gettime (a system call); instr_sampling_take, which reads the interrupted
 * stack inside its bounds and writes into this thread's own window, guarded against the event that was interrupted (core/thread.h); when
 * that window is full, open, write, close and pthread_setcancelstate (of the thread's own descriptor, no lock), but not the look at the
 * loaded objects that comes with it elsewhere, as that takes the dynamic linker's lock; with INSTR_SENSORS_AT=samples, the drivers'
 * pread, read, ioctl, fstat and rdpmc. None allocates, none takes a lock that the interrupted code may hold. Thread-local variables
 * are initial-exec: no access of theirs calls the C library. errno is kept.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "platform/linux/files.h"
#include "sampling/sampling.h"

#ifndef SIGEV_THREAD_ID
#define SIGEV_THREAD_ID 4
#endif

/* The C library's other name of it: the linker's --wrap turns every reference to `sigaction`, these too, into the program's. */
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static int number; /* of the signal */
static struct sigaction before;
static bool installed;
static char mark; /* its address is the timers' value: other senders' signals are not ours */

#define NO_CLOCK (-1)

/* Perf's task clock of this thread. */
static _Thread_local struct {
    int tid; /* whose it is: not a forked child's; 0: there is none */
    int fd;
    uint64_t id; /* the kernel's, to know the descriptor by: the program may close it, and get its number for something else */
    uint64_t period;
    uint64_t told; /* processor time that samples stand for so far, ns */
} own __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__)
static void read_context(const void *context, struct instr_interrupted *at)
{
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    at->pc = (uintptr_t)registers[REG_RIP];
    at->sp = (uintptr_t)registers[REG_RSP];
    at->frame = (uintptr_t)registers[REG_RBP];
    static const unsigned char SAVED[INSTR_SAMPLE_REGISTERS] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; i < INSTR_SAMPLE_REGISTERS; i++)
        at->registers[i] = (uintptr_t)registers[SAVED[i]];
}
#elif defined(__sparc__)
/* The third argument points to the saved registers (32 bits), or to the siginfo_t that they follow (64 bits): Linux,
 * arch/sparc/kernel/signal_32.c and signal_64.c, struct pt_regs. */
static void read_context(const void *context, struct instr_interrupted *at)
{
#if defined(__arch64__)
    const uintptr_t *registers = (const uintptr_t *)context + 16; /* siginfo_t: 128 bytes; %g0 … %o7, tstate, tpc */
    at->pc = registers[17];
    at->sp = registers[14] + INSTR_SPARC_BIAS;
    at->return_to = registers[15];
#else
    const uintptr_t *registers = context; /* psr, pc, npc, y, %g0 … %o7 */
    at->pc = registers[1];
    at->sp = registers[4 + 14];
    at->return_to = registers[4 + 15];
#endif
}
#elif defined(__aarch64__)
static void read_context(const void *context, struct instr_interrupted *at)
{
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    at->pc = machine->pc;
    at->sp = machine->sp;
    at->frame = machine->regs[29];
}
#elif defined(__riscv)
static void read_context(const void *context, struct instr_interrupted *at)
{
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    at->pc = machine->__gregs[REG_PC];
    at->sp = machine->__gregs[REG_SP];
    at->frame = machine->__gregs[REG_S0];
}
#else
static void read_context(const void *context, struct instr_interrupted *at)
{
    (void)context;
    (void)at;
}
#endif

/* Signals that by default do nothing. */
static bool is_harmless(int signal)
{
    return signal == SIGURG || signal == SIGCHLD || signal == SIGWINCH || signal == SIGCONT;
}

/* Somebody else's signal: what it did before is done. */
static void pass_on(int signal)
{
    if (before.sa_handler == SIG_IGN || (before.sa_handler == SIG_DFL && is_harmless(signal)))
        return;
    sigset_t set;
    (void)__sigaction(signal, &before, NULL);
    sigemptyset(&set);
    sigaddset(&set, signal);
    (void)raise(signal);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static uint64_t processor_time(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether the signal ends periods of this thread. */
static bool is_ours(const siginfo_t *info)
{
    if (info->si_code == SI_TIMER)
        return info->si_value.sival_ptr == &mark;
    /* POLL_IN and its kin: above 0, as nothing is that a program can send. */
    return own.tid != 0 && info->si_code > 0 && info->si_code <= POLL_HUP && info->si_fd == own.fd;
}

/* Periods that have ended since the last sample. The task clock ends none in the kernel where that must not be looked at, and none twice
 * while the signal is blocked: the thread's processor time tells. */
static uint32_t periods(const siginfo_t *info)
{
    if (info->si_code == SI_TIMER)
        return info->si_overrun > 0 ? (uint32_t)info->si_overrun + 1 : 1;
    const uint64_t now = processor_time();
    if (now < own.told)
        return 0;
    const uint64_t count = (now - own.told + own.period / 2) / own.period;
    own.told += count * own.period;
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/*
 * Whether a handler of the program's was interrupted, on an alternate stack with too little left of it: its size was chosen for the
 * program's own handlers, and what lies below is not ours to write. Taking a sample needs 2.1 KiB, measured, when a full window is written; reading sensors a little
 * more.
 */
#define STACK_BYTES 4096u

static bool is_short_of_stack(void)
{
    stack_t other;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (syscall(SYS_sigaltstack, NULL, &other) != 0 || (other.ss_flags & SS_ONSTACK) == 0)
        return false;
    return here - (uintptr_t)other.ss_sp < STACK_BYTES;
}

static __attribute__((noinline)) void take(const void *context, uint32_t count, uintptr_t frame)
{
    struct instr_interrupted at = {.frame = frame};
    read_context(context, &at);
    instr_sampling_take(&at, count);
}

static void tick(int signal, siginfo_t *info, void *context)
{
    const int error = errno;
    uintptr_t frame = 0;
    if (is_ours(info)) {
        const uint32_t count = periods(info);
#if defined(__sparc__)
        /* The system has called this function with %sp at its copy of the interrupted window. */
        frame = instr_arch_frame_pointer();
#endif
        if (count != 0 && is_short_of_stack())
            instr_sampling_missed(count);
        else if (count != 0)
            take(context, count, frame);
    } else {
        pass_on(signal);
    }
    errno = error;
}

/* SIGURG, URG, 27, SIGRTMIN+3 …; 0: none. */
static int signal_of(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } NAMES[] = {{"URG", SIGURG}, {"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}, {"ALRM", SIGALRM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
    int base = 0;
    if (name == NULL || name[0] == '\0')
        return SIGURG;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strcmp(name, NAMES[i].name) == 0)
            return NAMES[i].number;
    if (strncmp(name, "RTMIN+", 6) == 0) {
        base = SIGRTMIN;
        name += 6;
    }
    int value = 0;
    for (; *name >= '0' && *name <= '9' && value < 1000; name++)
        value = value * 10 + (*name - '0');
    value += base;
    return *name == '\0' && value > 0 && value <= SIGRTMAX ? value : 0;
}

/* The segment of code that the runtime is in. Between it and the object's others may be holes, where nothing is. */
static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
    const uintptr_t here = (uintptr_t)&instr_platform_sampling_begin;
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];
        const uintptr_t low = (uintptr_t)info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 && here >= low && here - low < segment->p_memsz) {
            instr_sampling_code(low, low + segment->p_memsz);
            return 1;
        }
    }
    return 0;
}

const char *instr_platform_sampling_begin(const char *name)
{
    struct sigaction action;
    number = signal_of(name);
    if (number == 0)
        return "INSTR_SAMPLING_SIGNAL is not a signal; there are no samples";
    memset(&action, 0, sizeof action);
    action.sa_sigaction = tick;
    /* Not SA_ONSTACK: an alternate stack may be only just large enough for what the program does there. */
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (__sigaction(number, NULL, &before) != 0)
        return "INSTR_SAMPLING_SIGNAL is a signal that cannot be caught; there are no samples";
    if ((before.sa_flags & SA_SIGINFO) != 0 || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN))
        return "the signal of INSTR_SAMPLING_SIGNAL has a handler already; there are no samples";
    if (__sigaction(number, &action, NULL) != 0)
        return "INSTR_SAMPLING_SIGNAL is a signal that cannot be caught; there are no samples";
    installed = true;
    instr_platform_leave_signal(number);
    (void)dl_iterate_phdr(find_code, NULL); /* no sample comes before a thread has its timer */
    return NULL;
}

/* As the kernel has it; the C library's may be wider (64-bit time on 32-bit systems). */
struct times {
    long interval_s;
    long interval_ns;
    long first_s;
    long first_ns;
};

static int open_clock(uint64_t period_ns)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = period_ns;
    attr.wakeup_events = 1;
    attr.disabled = 1;
    attr.exclude_hv = 1;
    attr.exclude_kernel = !is_harmless(number); /* see above */
    const bool had_turn = instr_platform_turn_begin();
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && !attr.exclude_kernel) { /* what is spent in the kernel then counts at the next sample outside */
        attr.exclude_kernel = 1;
        fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
    fd = instr_high_descriptor(fd);
    instr_platform_turn_end(had_turn);
    return fd;
}

/* Whether the descriptor is still the clock's. */
static bool is_clock(int fd, uint64_t id)
{
    uint64_t found = 0;
    return ioctl(fd, PERF_EVENT_IOC_ID, &found) == 0 && found == id;
}

/* Perf's task clock; negative: the system does not let us. */
static int begin_clock(uint64_t period_ns)
{
    const struct f_owner_ex owner = {F_OWNER_TID, (int)instr_platform_tid()};
    if (own.tid != 0 && is_clock(own.fd, own.id)) /* of the parent, before fork */
        close(own.fd);
    own.tid = 0;
    const int fd = open_clock(period_ns);
    if (fd < 0)
        return fd;
    own.fd = fd;
    own.period = period_ns;
    own.told = processor_time();
    if (ioctl(fd, PERF_EVENT_IOC_ID, &own.id) == 0 && fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, number) == 0 &&
        fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0) {
        own.tid = owner.pid;
        if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
            return fd;
    }
    own.tid = 0;
    close(fd);
    return NO_CLOCK;
}

static int begin_timer(uint64_t period_ns, clockid_t clock)
{
    struct sigevent event;
    int id = 0;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number;
    event.sigev_value.sival_ptr = &mark;
#ifdef sigev_notify_thread_id
    event.sigev_notify_thread_id = (int)instr_platform_tid();
#else
    event._sigev_un._tid = (int)instr_platform_tid();
#endif
    const long seconds = (long)(period_ns / 1000000000u);
    const long rest = (long)(period_ns % 1000000000u);
    const struct times times = {seconds, rest, seconds, rest};
    if (syscall(SYS_timer_create, clock, &event, &id) != 0)
        return -1;
    if (syscall(SYS_timer_settime, id, 0, &times, NULL) != 0) {
        (void)syscall(SYS_timer_delete, id);
        return -1;
    }
    return id;
}

/* What instr_platform_sampling_stop() is given: a timer, or minus a descriptor minus 1 and the kernel's number of it. */
bool instr_platform_sampling_thread(uint64_t period_ns, uint32_t *clock, struct instr_sampling *sampling, uint32_t *signal)
{
    int id = -1;
    *signal = (uint32_t)number;
    if (*clock == INSTR_SAMPLING_TASK) {
        id = begin_clock(period_ns);
        if (id >= 0) {
            sampling->timer = -id - 1;
            sampling->clock = own.id;
            return true;
        }
        *clock = INSTR_SAMPLING_CPU;
    }
    id = begin_timer(period_ns, *clock == INSTR_SAMPLING_REAL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
    sampling->timer = id;
    return id >= 0;
}

bool instr_platform_sampling_stop(const struct instr_sampling *sampling)
{
    if (sampling->timer >= 0) {
        (void)syscall(SYS_timer_delete, sampling->timer);
        return true;
    }
    const int fd = -(sampling->timer + 1);
    if (!is_clock(fd, sampling->clock))
        return false;
    (void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0); /* forked children may have the descriptor too */
    close(fd);
    return true;
}

void instr_platform_sampling_end(void)
{
    struct sigaction now;
    if (!installed || __sigaction(number, NULL, &now) != 0 || now.sa_sigaction != tick)
        return;
    /* Periods of threads that go on still end: by default that would end the process. */
    struct sigaction last = before;
    if (last.sa_handler == SIG_DFL && !is_harmless(number))
        last.sa_handler = SIG_IGN;
    (void)__sigaction(number, &last, NULL);
    installed = false;
}

bool instr_platform_sampling_signal(int signal, bool takes, void *old)
{
    if (!installed || signal != number)
        return false;
    if (old != NULL)
        memcpy(old, &before, sizeof before);
    if (takes) {
        struct sigaction ignored = before;
        ignored.sa_handler = SIG_IGN;
        ignored.sa_flags = 0;
        (void)__sigaction(number, &ignored, NULL);
        instr_sampling_give_up();
        /* Forgets those on their way: also of periods that ended since, as a signal that is ignored but blocked waits all the same. */
        (void)__sigaction(number, &ignored, NULL);
        (void)__sigaction(number, &before, NULL);
        installed = false;
    }
    return true;
}

void instr_platform_sampling_awaited(const void *set)
{
    if (installed && sigismember(set, number) == 1)
        (void)instr_platform_sampling_signal(number, true, NULL);
}

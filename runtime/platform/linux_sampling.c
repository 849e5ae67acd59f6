/*
 * Linux: a POSIX timer for each thread, which ends periods by a signal to that thread (timer_create(2), SIGEV_THREAD_ID). The system
 * calls are made directly: older C libraries allocate a timer's description.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "platform/platform.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

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
    at->sp = registers[14] + 2047;
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
#else
static void read_context(const void *context, struct instr_interrupted *at)
{
    (void)context;
    (void)at;
}
#endif

/* Somebody else's signal: what it did before is done. */
static void pass_on(int signal)
{
    if (before.sa_handler == SIG_IGN)
        return;
    sigset_t set;
    (void)__sigaction(signal, &before, NULL);
    sigemptyset(&set);
    sigaddset(&set, signal);
    (void)raise(signal);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void tick(int signal, siginfo_t *info, void *context)
{
    const int error = errno;
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark) {
        struct instr_interrupted at = {0};
        read_context(context, &at);
#if defined(__sparc__)
        /* The system has called this function with %sp at its copy of the interrupted window. */
        __asm__("mov %%fp, %0" : "=r"(at.frame));
#endif
        const int more = info->si_overrun;
        instr_sampling_take(&at, more > 0 ? (uint32_t)more + 1 : 1);
    } else {
        pass_on(signal);
    }
    errno = error;
}

/* SIGPROF, PROF, 27, SIGRTMIN+3 …; 0: none. */
static int signal_of(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } NAMES[] = {{"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}, {"ALRM", SIGALRM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
    int base = 0;
    if (name == NULL || name[0] == '\0')
        return SIGPROF;
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

const char *instr_platform_sampling_begin(const char *name)
{
    struct sigaction action;
    number = signal_of(name);
    if (number == 0)
        return "INSTR_SAMPLING_SIGNAL is not a signal; there are no samples";
    memset(&action, 0, sizeof action);
    action.sa_sigaction = tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (__sigaction(number, NULL, &before) != 0)
        return "INSTR_SAMPLING_SIGNAL is a signal that cannot be caught; there are no samples";
    if ((before.sa_flags & SA_SIGINFO) != 0 || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN))
        return "the signal of INSTR_SAMPLING_SIGNAL has a handler already; there are no samples";
    if (__sigaction(number, &action, NULL) != 0)
        return "INSTR_SAMPLING_SIGNAL is a signal that cannot be caught; there are no samples";
    installed = true;
    return NULL;
}

/* As the kernel has it; the C library's may be wider (64-bit time on 32-bit systems). */
struct times {
    long interval_s;
    long interval_ns;
    long first_s;
    long first_ns;
};

bool instr_platform_sampling_thread(uint64_t period_ns, uint32_t clock, int32_t *timer, uint32_t *signal)
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
    if (syscall(SYS_timer_create, clock == INSTR_SAMPLING_REAL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &event, &id) != 0)
        return false;
    if (syscall(SYS_timer_settime, id, 0, &times, NULL) != 0) {
        (void)syscall(SYS_timer_delete, id);
        return false;
    }
    *timer = id;
    *signal = (uint32_t)number;
    return true;
}

void instr_platform_sampling_stop(int32_t timer)
{
    (void)syscall(SYS_timer_delete, timer);
}

void instr_platform_sampling_end(void)
{
    struct sigaction now;
    if (!installed || __sigaction(number, NULL, &now) != 0 || now.sa_sigaction != tick)
        return;
    /* Periods of threads that go on still end: by default that would end the process. */
    struct sigaction last = before;
    if (last.sa_handler == SIG_DFL)
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
        (void)__sigaction(number, &ignored, NULL); /* forgets those on their way */
        instr_sampling_give_up();
        (void)__sigaction(number, &before, NULL);
        installed = false;
    }
    return true;
}

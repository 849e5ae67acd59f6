/*
 * Clock interrupts that interrupt threads: a signal to the thread of a processor, handled on a stack of its own, stands for the interrupt.
 * As RTEMS does on SPARC (score/cpu/sparc/cpu_asm.S), what is interrupted is saved on the thread's stack as a CPU_Interrupt_frame, and is
 * the frame behind the first of the interrupt's stack.
 */
#define _GNU_SOURCE
#include "board.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

#include <rtems.h>
#include <rtems/score/thread.h>

#define SIGNAL SIGUSR2
#define STACK_BYTES 65536u
#define MOST_THREADS 64u
#define MOST_TICKS 65536u

static char stacks[MOST_THREADS][STACK_BYTES] __attribute__((aligned(16)));

static struct tick {
    rtems_id thread;
    uintptr_t pc;
} ticks[MOST_TICKS];
static atomic_uint tick_count;

static __thread struct _Thread_Control *self;
__thread bool board_in_interrupt;

#if defined(__sparc__)
#include <rtems/score/cpu.h>

/* Calls routine(id, data) with the frame as that of the caller. */
void board_enter(CPU_Interrupt_frame *frame, rtems_timer_service_routine_entry routine, rtems_id id, void *data);
__asm__(".text\n"
        ".align 4\n"
        ".globl board_enter\n"
        ".type board_enter, #function\n"
        "board_enter:\n"
        "save %sp, -96, %sp\n"
        "ta 3\n" /* the caller's window goes to its own place */
        "mov %fp, %l0\n"
        "mov %i2, %o0\n"
        "mov %i3, %o1\n"
        "mov %i0, %fp\n"
        "call %i1\n"
        "nop\n"
        "mov %l0, %fp\n"
        "ret\n"
        "restore\n"
        ".size board_enter, .-board_enter\n");

/* The third argument of a handler: psr, pc, npc, y, %g0 … %o7; its %fp: the copy of the interrupted window that the system made. */
static void enter(const uintptr_t *registers, const uintptr_t *window)
{
    const uintptr_t sp = registers[4 + 14];
    CPU_Interrupt_frame *frame = (CPU_Interrupt_frame *)(sp - sizeof *frame);
    memset(frame, 0, sizeof *frame);
    memcpy(frame->Stack_frame, window, 16 * sizeof *window);
    frame->pc = registers[1];
    frame->npc = registers[2];
    frame->i6_fp = sp;
    frame->i7 = registers[4 + 15];
    board_enter(frame, self->routine, self->timer, self->data);
}

static uintptr_t pc_of(const void *context)
{
    return ((const uintptr_t *)context)[1];
}
#else
static __thread const greg_t *registers;

bool board_interrupted(uintptr_t *pc, uintptr_t *sp, uintptr_t *frame);

bool board_interrupted(uintptr_t *pc, uintptr_t *sp, uintptr_t *frame)
{
    *pc = (uintptr_t)registers[REG_RIP];
    *sp = (uintptr_t)registers[REG_RSP];
    *frame = (uintptr_t)registers[REG_RBP];
    return true;
}

static uintptr_t pc_of(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}
#endif

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    if (self == NULL || !atomic_load(&self->pending))
        return;
    const unsigned number = atomic_fetch_add(&tick_count, 1);
    if (number < MOST_TICKS)
        ticks[number] = (struct tick){self->Object.id, pc_of(context)};
    board_in_interrupt = true;
#if defined(__sparc__)
    uintptr_t window;
    __asm__("mov %%fp, %0" : "=r"(window));
    enter(context, (const uintptr_t *)window);
#else
    registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    self->routine(self->timer, self->data);
#endif
    board_in_interrupt = false;
    atomic_store(&self->pending, false);
}

void board_thread_begins(struct _Thread_Control *thread, uint32_t number)
{
    if (number >= MOST_THREADS)
        return;
    const stack_t stack = {.ss_sp = stacks[number], .ss_size = STACK_BYTES};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    if (sigaction(SIGNAL, &action, NULL) != 0 || sigaltstack(&stack, NULL) != 0)
        return;
    self = thread;
    thread->host = pthread_self();
    atomic_store(&thread->alive, true);
}

void board_thread_ends(struct _Thread_Control *thread)
{
    atomic_store(&thread->alive, false);
}

bool board_interrupt(struct _Thread_Control *thread, rtems_timer_service_routine_entry routine, rtems_id timer, void *data)
{
    if (!atomic_load(&thread->alive) || atomic_exchange(&thread->pending, true))
        return false;
    thread->routine = routine;
    thread->timer = timer;
    thread->data = data;
    return pthread_kill(thread->host, SIGNAL) == 0;
}

void board_interrupts_block(bool block)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    (void)pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

void board_interrupts_report(FILE *to)
{
    const unsigned count = tick_count < MOST_TICKS ? tick_count : MOST_TICKS;
    for (unsigned i = 0; i < count; i++)
        fprintf(to, "interrupted %u %llu\n", (unsigned)ticks[i].thread, (unsigned long long)ticks[i].pc);
}

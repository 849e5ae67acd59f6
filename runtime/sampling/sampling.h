/*
 * Sampling (INSTR_SAMPLING_PERIOD): where each thread is, at the end of each period of its time.
 *
 * The platform ends periods (on Linux by a timer and a signal for each thread, on a board by clock ticks) and calls
 * instr_sampling_take() in the thread that is interrupted, or for it. Nothing here waits, allocates or calls the system, but for a full
 * window that is handed over.
 */
#ifndef INSTR_SAMPLING_H
#define INSTR_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "instr/kinds.h"

struct instr_thread;

#define INSTR_SAMPLE_REGISTERS 6u /* x86-64: rbx, rbp, r12 to r15 */
#define INSTR_SAMPLE_KEPT 24u     /* return addresses of a sample that waits for the end of an event */

/*
 * x86-64: behind the return addresses stand 0, or 1 when the first of them is a leaf's and a guess, the frame pointer, and the words of the
 * stack from the stack pointer on. In a function's first and last instructions its return address is among these; the host knows which. What can
 * be neither a return address nor a frame pointer is 0.
 */
#if defined(__x86_64__) && !INSTR_PLATFORM_SMALL
#define INSTR_SAMPLE_WORDS 8u
#define INSTR_SAMPLE_BEHIND (2u + INSTR_SAMPLE_WORDS)
#else
#define INSTR_SAMPLE_BEHIND 0u
#endif

/* What was interrupted. */
struct instr_interrupted {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t frame;    /* x86-64: the frame pointer; SPARC: where the interrupted window is saved */
    uintptr_t return_to; /* SPARC: %o7; 0: unknown */
    uintptr_t registers[INSTR_SAMPLE_REGISTERS];
};

/* Of a thread, in struct instr_thread. */
struct instr_sampling {
    uint32_t armed;   /* the platform has a timer for it … */
    int32_t timer;    /* … this one, */
    uint64_t clock;   /* or this */
    uint32_t taking;  /* a sample is being written, by a signal handler */
    uint32_t waiting; /* weight of the sample below; 0: none */
    uint32_t lost;    /* periods without a sample that are not told yet */
    uint32_t count;
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t stack[INSTR_SAMPLE_KEPT + INSTR_SAMPLE_BEHIND];
};

/* Small systems and static programs have it only where the program's configuration asks for it (docs/decisions/0013). */
#define INSTR_SAMPLING_LINKAGE __attribute__((weak))
#define INSTR_HAS_SAMPLING (instr_sampling_settings != NULL)

/* Reads the settings. */
void instr_sampling_settings(void) INSTR_SAMPLING_LINKAGE;

/* The process begins and ends; a thread begins (it is attached, its guard not held) and ends (it is held). */
void instr_sampling_begin(void) INSTR_SAMPLING_LINKAGE;
void instr_sampling_end(void) INSTR_SAMPLING_LINKAGE;
void instr_sampling_begin_thread(struct instr_thread *t) INSTR_SAMPLING_LINKAGE;
void instr_sampling_stop_thread(struct instr_thread *t) INSTR_SAMPLING_LINKAGE;
void instr_sampling_end_thread(struct instr_thread *t) INSTR_SAMPLING_LINKAGE;

/* The program takes the signal that ends periods: no more samples. */
void instr_sampling_give_up(void);

/* The calling thread was interrupted at the end of a period, or of `weight` of them. */
void instr_sampling_take(const struct instr_interrupted *at, uint32_t weight);

/* As many periods ended, and nothing can be told of them. */
void instr_sampling_missed(uint32_t weight);

/* Where the code of the program or library lies that the runtime is in, [low, high), all of which can be read. Told by the platform before
 * the first sample; no code is looked at where it does not. */
void instr_sampling_code(uintptr_t low, uintptr_t high);

/* Return addresses of what was interrupted, innermost first, at most `room`, and what stands behind them (`stack` has room for both).
 * `high` is the end of the thread's stack. */
unsigned instr_sampling_frames(const struct instr_interrupted *at, uintptr_t high, uintptr_t *stack, unsigned room);

#endif

/*
 * What the instruction set gives: a cheap clock and what a spinning thread does.
 *
 *   INSTR_ARCH_TICKS()       64-bit tick counter, INSTR_ARCH_HAS_TICKS says whether there is one at all
 *   instr_arch_ticks_ok()    whether the running processor's counter may be used as a clock
 *   INSTR_ARCH_UNALIGNED64   1 when a 64-bit store to a 4-byte boundary is fine
 *   INSTR_ARCH_ORDERED_STORES 1 when all processors see the stores of one in their order
 *   INSTR_ARCH_SMALL         1 when code size counts more than some nanoseconds
 *   INSTR_ARCH_HAS_PROCESSOR 1 when every record must tell its processor: instr_arch_processor(); without a call, while the clock is ticks
 *                            and takes none, instr_arch_processor_by_ticks()
 *   INSTR_ARCH_HAS_HALVES    1 when ticks, while they take no call, are two registers: instr_arch_ticks_low(), instr_arch_ticks_high()
 *   INSTR_ARCH_TICKS_CALL    whether ticks take a call on the running processor
 *   INSTR_ARCH_POSITIVE      1 when a program's addresses are positive numbers: instr_arch_stack_pointer()
 *   INSTR_PLATFORM_SMALL     1 where there is little memory and no environment: other defaults (core/settings.c)
 *   INSTR_ARCH_CALL_WORDS    where there is one: assembly of instr_arch_call_words (probes/doacross.c)
 */
#ifndef INSTR_ARCH_H
#define INSTR_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__rtems__)
#include "arch/rtems.h"
#elif defined(__x86_64__)
#include "arch/x86_64.h"
#elif defined(__sparc__)
#include "arch/sparc.h"
#elif defined(__aarch64__) && !defined(__ILP32__) && defined(__AARCH64EL__)
#include "arch/aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "arch/riscv64.h"
#else
#include "arch/generic.h"
#endif

#ifndef INSTR_ARCH_ORDERED_STORES
#define INSTR_ARCH_ORDERED_STORES 0
#endif
#ifndef INSTR_ARCH_HAS_PROCESSOR
#define INSTR_ARCH_HAS_PROCESSOR 0
#endif
#ifndef INSTR_ARCH_HAS_HALVES
#define INSTR_ARCH_HAS_HALVES 0
#endif
#ifndef INSTR_ARCH_TICKS_CALL
#define INSTR_ARCH_TICKS_CALL false
#endif
#ifndef INSTR_PLATFORM_SMALL
#define INSTR_PLATFORM_SMALL 0
#endif

/* How variables of threads are reached: never by a call. An image of a board is linked whole, so that their places are known then. */
#if INSTR_PLATFORM_SMALL
#define INSTR_TLS __attribute__((tls_model("local-exec")))
#else
#define INSTR_TLS __attribute__((tls_model("initial-exec")))
#endif
#if INSTR_PLATFORM_SMALL
#undef INSTR_ARCH_POSITIVE /* nobody leaves an interrupt by a jump */
#endif
#ifndef INSTR_ARCH_POSITIVE
#define INSTR_ARCH_POSITIVE 0
#endif
/* Whether processor time is recorded: not where code size counts more. */
#define INSTR_HAS_THREAD_TIME (!INSTR_ARCH_SMALL)
/* Whether earlier runs, the program and its command line are kept with a trace (sinks/file_runs.c): not there either. */
#define INSTR_KEEPS_RUNS (!INSTR_ARCH_SMALL && !INSTR_PLATFORM_SMALL)
/* Whether context switches are recorded for each thread (core/switches.h). Small systems have streams of processors instead. */
#if defined(__linux__) && !INSTR_PLATFORM_SMALL && !INSTR_ARCH_SMALL && UINTPTR_MAX > 0xffffffffu
#define INSTR_HAS_SWITCHES 1
#else
#define INSTR_HAS_SWITCHES 0
#endif
#ifndef INSTR_ARCH_HAS_MEMCHECK
static inline void instr_arch_say_written(const void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}
#endif

#endif

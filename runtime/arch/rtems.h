/*
 * RTEMS, on any processor. The instruction set's own file gives the rest; the clock and the processor's number are the system's
 * (platform/rtems/clock.c), since which counter there is depends on the board.
 */
#define instr_arch_ticks instr_isa_ticks
#define instr_arch_ticks_ok instr_isa_ticks_ok
#if defined(__sparc__)
#include "arch/sparc.h"
#elif defined(__x86_64__)
#include "arch/x86_64.h"
#else
#include "arch/generic.h"
#endif
#undef instr_arch_ticks
#undef instr_arch_ticks_ok
#undef INSTR_ARCH_HAS_TICKS
#undef INSTR_ARCH_SMALL
#undef INSTR_ARCH_TICKS_NAME

#define INSTR_ARCH_HAS_TICKS 1
#define INSTR_ARCH_SMALL 1
#define INSTR_ARCH_TICKS_NAME instr_rtems_ticks_name()
#define INSTR_ARCH_HAS_PROCESSOR 1
#define INSTR_PLATFORM_SMALL 1

/* Emulation of a board on another system has these registers too, where they are privileged. */
#if defined(__sparc__) && !defined(__gnu_linux__)
#define INSTR_RTEMS_HAS_ASR 1
#else
#define INSTR_RTEMS_HAS_ASR 0
#endif
#define INSTR_RTEMS_ASR22_MASK 0xffffffu

extern bool instr_rtems_up_counter; /* whether the up-counter is there and runs */

const char *instr_rtems_ticks_name(void);
uint64_t instr_rtems_ticks(void);
uint32_t instr_rtems_processor(void);

static inline __attribute__((always_inline)) uint64_t instr_arch_ticks(void)
{
#if INSTR_RTEMS_HAS_ASR
    if (__builtin_expect(instr_rtems_up_counter, 1)) {
        const uint32_t high = instr_arch_asr22();
        const uint32_t low = instr_arch_asr23();
        if (__builtin_expect(instr_arch_asr22() == high, 1)) /* else the low half has just begun anew */
            return (uint64_t)(high & INSTR_RTEMS_ASR22_MASK) << 32 | low;
    }
#endif
    return instr_rtems_ticks();
}

static inline uint32_t instr_arch_processor(void)
{
    return instr_rtems_processor();
}

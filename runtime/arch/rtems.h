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

static inline uint64_t instr_arch_ticks(void)
{
    return instr_rtems_ticks();
}

static inline uint32_t instr_arch_processor(void)
{
    return instr_rtems_processor();
}

/*
 * Where the up-counter runs, events read it themselves. LEON3 and later have the processor's number in a register as well, by which RTEMS
 * numbers them where it has several. On a system of one processor, the events of all but the first on the board take the long way.
 */
#if INSTR_RTEMS_HAS_ASR
#define INSTR_ARCH_HAS_HALVES 1
#define INSTR_ARCH_TICKS_CALL (!instr_rtems_up_counter)
static inline uint32_t instr_arch_ticks_low(void)
{
    return instr_arch_asr23();
}

static inline uint32_t instr_arch_ticks_high(void)
{
    return instr_arch_asr22() & INSTR_RTEMS_ASR22_MASK;
}

static inline uint32_t instr_arch_processor_by_ticks(void)
{
    return instr_arch_asr17() >> INSTR_SPARC_ASR17_INDEX;
}
#else
#define instr_arch_processor_by_ticks instr_arch_processor
#endif

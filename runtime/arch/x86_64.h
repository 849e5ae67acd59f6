/*
 * x86-64. The time-stamp counter is a clock when it is invariant: CPUID 80000007H, EDX bit 8 (Intel SDM vol. 3, 18.17.1;
 * AMD APM vol. 3). rdtsc is not ordered with the instructions around it; the error is some tens of nanoseconds at most,
 * far below what ordering (lfence, rdtscp) would cost each event.
 */
#include <cpuid.h>

#define INSTR_ARCH_NAME "x86_64"
#define INSTR_ARCH_HAS_TICKS 1
#define INSTR_ARCH_UNALIGNED64 1
#define INSTR_ARCH_SMALL 0
#define INSTR_ARCH_TICKS_NAME "tsc"

static inline uint64_t instr_arch_ticks(void)
{
    uint32_t low;
    uint32_t high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline bool instr_arch_ticks_ok(unsigned long hwcap)
{
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx = 0;
    (void)hwcap;
    if ((unsigned)__get_cpuid_max(0x80000000u, 0) < 0x80000007u)
        return false;
    __cpuid(0x80000007u, eax, ebx, ecx, edx);
    (void)eax;
    (void)ebx;
    (void)ecx;
    return (edx >> 8 & 1u) != 0;
}

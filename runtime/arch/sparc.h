/*
 * SPARC, 32 and 64 bits. SPARC V9 processors have %tick (The SPARC Architecture Manual V9, 5.1.4.1): 63 bits at the
 * processor's clock, bit 63 tells whether user code may read it. A 32-bit program may run on such a processor; the
 * kernel tells by HWCAP_SPARC_V9. LEON (V8) has none that user code can rely on: the platform's clock is used there.
 *
 * V8 requires natural alignment of 64-bit stores and has no compare-and-swap; memory order is TSO, so plain stores by
 * one processor are seen in order.
 */
#define INSTR_ARCH_NAME "sparc"
#define INSTR_ARCH_HAS_TICKS 1
#define INSTR_ARCH_UNALIGNED64 0
#define INSTR_ARCH_SMALL 1 /* embedded boards: small events are written by one function each, not inline */
#define INSTR_ARCH_TICKS_NAME "tick"

#define INSTR_SPARC_HWCAP_V9 16ul

static inline uint64_t instr_arch_ticks(void)
{
#if defined(__arch64__)
    uint64_t ticks;
    __asm__ volatile("rd %%tick, %0" : "=r"(ticks));
    return ticks & ~(UINT64_C(1) << 63);
#else
    /* rd %tick, %o4; srlx %o4, 32, %o5: as words, since a V8 assembler refuses V9 instructions. Both halves are taken at once:
     * the upper half of a register is not kept across a trap into a 32-bit window. */
    uint32_t high;
    uint32_t low;
    __asm__ volatile(".word 0x99410000\n\t" /* rd %tick, %o4 */
                     ".word 0x9b333020\n\t" /* srlx %o4, 32, %o5 */
                     "mov %%o5, %0\n\t"
                     "mov %%o4, %1"
                     : "=r"(high), "=r"(low)
                     :
                     : "o4", "o5");
    return ((uint64_t)high << 32 | low) & ~(UINT64_C(1) << 63);
#endif
}

static inline bool instr_arch_ticks_ok(unsigned long hwcap)
{
#if defined(__arch64__)
    (void)hwcap;
    return true;
#else
    return (hwcap & INSTR_SPARC_HWCAP_V9) != 0;
#endif
}

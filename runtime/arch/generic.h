/* No counter known: the platform's clock is used. */
#define INSTR_ARCH_NAME "generic"
#define INSTR_ARCH_HAS_TICKS 0
#define INSTR_ARCH_UNALIGNED64 0
#define INSTR_ARCH_SMALL 0
#define INSTR_ARCH_TICKS_NAME "none"
static inline uint64_t instr_arch_ticks(void) { return 0; }

static inline bool instr_arch_ticks_ok(unsigned long hwcap)
{
    (void)hwcap;
    return false;
}

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
#define INSTR_ARCH_ORDERED_STORES 1
#define INSTR_ARCH_UNALIGNED64 0
#define INSTR_ARCH_SMALL 1 /* embedded boards: small events are written by one function each, not inline */
#define INSTR_ARCH_TICKS_NAME "tick"

#define INSTR_SPARC_HWCAP_V9 16ul

/* System V ABI, SPARC supplement, 3-15, and SPARC Compliance Definition 2.4, 3P-9: six words in %o registers, the others on the stack
 * behind the window's save area and the room for these six. */
#if defined(__arch64__)
#define INSTR_SPARC_WORD "8"
#define INSTR_SPARC_SHIFT "3"
#define INSTR_SPARC_FRAME "176"
#define INSTR_SPARC_ROUND "15"
#define INSTR_SPARC_ARGUMENT "2047+176" /* of the seventh word, with the stack's bias */
#define INSTR_SPARC_LOAD "ldx"
#define INSTR_SPARC_STORE "stx"
#else
#define INSTR_SPARC_WORD "4"
#define INSTR_SPARC_SHIFT "2"
#define INSTR_SPARC_FRAME "96"
#define INSTR_SPARC_ROUND "7"
#define INSTR_SPARC_ARGUMENT "92"
#define INSTR_SPARC_LOAD "ld"
#define INSTR_SPARC_STORE "st"
#endif
#define INSTR_ARCH_CALL_WORDS                                         \
    ".text\n"                                                         \
    ".align 4\n"                                                      \
    ".hidden instr_arch_call_words\n"                                 \
    ".globl instr_arch_call_words\n"                                  \
    ".type instr_arch_call_words, #function\n"                        \
    "instr_arch_call_words:\n"                                        \
    ".cfi_startproc\n"                                                \
    "save %sp, -" INSTR_SPARC_FRAME ", %sp\n"                         \
    ".cfi_def_cfa_register 30\n"                                      \
    ".cfi_window_save\n"                                              \
    ".cfi_register 15, 31\n"                                          \
    "subcc %i2, 6, %l0\n"                                             \
    "ble 2f\n"                                                        \
    "nop\n"                                                           \
    "sll %l0, " INSTR_SPARC_SHIFT ", %l1\n"                           \
    "add %l1, " INSTR_SPARC_ROUND ", %l2\n"                           \
    "andn %l2, " INSTR_SPARC_ROUND ", %l2\n"                          \
    "sub %sp, %l2, %sp\n"                                             \
    "add %sp, " INSTR_SPARC_ARGUMENT ", %l3\n"                        \
    "add %i1, 6*" INSTR_SPARC_WORD ", %l4\n"                          \
    "1: subcc %l1, " INSTR_SPARC_WORD ", %l1\n"                       \
    INSTR_SPARC_LOAD " [%l4+%l1], %l5\n"                              \
    "bne 1b\n"                                                        \
    INSTR_SPARC_STORE " %l5, [%l3+%l1]\n"                             \
    "2: " INSTR_SPARC_LOAD " [%i1], %o0\n"                            \
    INSTR_SPARC_LOAD " [%i1+1*" INSTR_SPARC_WORD "], %o1\n"           \
    INSTR_SPARC_LOAD " [%i1+2*" INSTR_SPARC_WORD "], %o2\n"           \
    INSTR_SPARC_LOAD " [%i1+3*" INSTR_SPARC_WORD "], %o3\n"           \
    INSTR_SPARC_LOAD " [%i1+4*" INSTR_SPARC_WORD "], %o4\n"           \
    "call %i0\n"                                                      \
    INSTR_SPARC_LOAD " [%i1+5*" INSTR_SPARC_WORD "], %o5\n"           \
    "jmp %i7+8\n"                                                     \
    "restore\n"                                                       \
    ".cfi_endproc\n"                                                  \
    ".size instr_arch_call_words, .-instr_arch_call_words\n"

/* Stack and frame pointers of 64-bit programs are lower than the stack by this (SPARC Compliance Definition 2.4, 3P-3). */
#if defined(__arch64__)
#define INSTR_SPARC_BIAS 2047u
#else
#define INSTR_SPARC_BIAS 0u
#endif

/* %fp of the function that it stands in, whose caller's %sp that is. */
static inline __attribute__((always_inline)) uintptr_t instr_arch_frame_pointer(void)
{
    uintptr_t frame;
    __asm__ volatile("mov %%fp, %0" : "=r"(frame));
    return frame;
}

/* Writes all register windows but the running one to their save areas. */
static inline void instr_arch_flush_windows(void)
{
#if defined(__arch64__)
    __asm__ volatile("flushw" ::: "memory");
#else
    __asm__ volatile("ta 3" ::: "memory");
#endif
}

/* Where the `call` at this address leads; 0 when it is another instruction. */
static inline uintptr_t instr_arch_called_at(uintptr_t call)
{
    const uint32_t word = *(const uint32_t *)call;
    return word >> 30 == 1 ? call + (uintptr_t)(intptr_t)(int32_t)(word << 2) : 0;
}

/* Whether this instruction makes a register window: op 2, rd %sp, op3 save. */
static inline bool instr_arch_saves(uint32_t instruction)
{
    return (instruction & 0xfff80000u) == 0x9de00000u;
}

/* LEON's up-counter (GRLIB IP Core User's Manual, LEON4, "Up-counter"): its upper 24 bits, and its lower 32. */
static inline uint32_t instr_arch_asr22(void)
{
    uint32_t value;
    __asm__ volatile("rd %%asr22, %0" : "=r"(value));
    return value;
}

static inline uint32_t instr_arch_asr23(void)
{
    uint32_t value;
    __asm__ volatile("rd %%asr23, %0" : "=r"(value));
    return value;
}

/* LEON's configuration register: the processor's number is in its upper four bits. */
#define INSTR_SPARC_ASR17_INDEX 28u
static inline uint32_t instr_arch_asr17(void)
{
    uint32_t value;
    __asm__ volatile("rd %%asr17, %0" : "=r"(value));
    return value;
}

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

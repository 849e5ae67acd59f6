/*
 * 64-bit RISC-V. The counter `time` (unprivileged specification, Zicntr): 64 bits at a fixed rate, the same on all harts within one tick,
 * readable by user code on Linux, which reads the same counter for clock_gettime.
 *
 * Stores that are not aligned may be emulated by the kernel, a thousand times slower.
 */
#define INSTR_ARCH_NAME "riscv64"
#define INSTR_ARCH_HAS_TICKS 1
#define INSTR_ARCH_UNALIGNED64 0
#define INSTR_ARCH_SMALL 0
#define INSTR_ARCH_POSITIVE 1
#define INSTR_ARCH_TICKS_NAME "time"

/* RISC-V calling conventions, 2.1: eight words in registers, the others on the stack, which is a multiple of 16 bytes at the call. */
#define INSTR_ARCH_CALL_WORDS                          \
    ".text\n"                                          \
    ".p2align 2\n"                                     \
    ".hidden instr_arch_call_words\n"                  \
    ".globl instr_arch_call_words\n"                   \
    ".type instr_arch_call_words, @function\n"         \
    "instr_arch_call_words:\n"                         \
    ".cfi_startproc\n"                                 \
    "addi sp, sp, -16\n"                               \
    ".cfi_def_cfa_offset 16\n"                         \
    "sd ra, 8(sp)\n"                                   \
    "sd s0, 0(sp)\n"                                   \
    ".cfi_offset 1, -8\n"                              \
    ".cfi_offset 8, -16\n"                             \
    "addi s0, sp, 16\n"                                \
    ".cfi_def_cfa 8, 0\n"                              \
    "mv t0, a0\n"                                      \
    "mv t1, a1\n"                                      \
    "addi t2, a2, -8\n"                                \
    "blez t2, 2f\n"                                    \
    "addi t3, t2, 1\n"                                 \
    "slli t3, t3, 3\n"                                 \
    "andi t3, t3, -16\n"                               \
    "sub sp, sp, t3\n"                                 \
    "addi t3, t1, 64\n"                                \
    "mv t4, sp\n"                                      \
    "1: ld t5, 0(t3)\n"                                \
    "sd t5, 0(t4)\n"                                   \
    "addi t3, t3, 8\n"                                 \
    "addi t4, t4, 8\n"                                 \
    "addi t2, t2, -1\n"                                \
    "bnez t2, 1b\n"                                    \
    "2: ld a0, 0(t1)\n"                                \
    "ld a1, 8(t1)\n"                                   \
    "ld a2, 16(t1)\n"                                  \
    "ld a3, 24(t1)\n"                                  \
    "ld a4, 32(t1)\n"                                  \
    "ld a5, 40(t1)\n"                                  \
    "ld a6, 48(t1)\n"                                  \
    "ld a7, 56(t1)\n"                                  \
    "jalr t0\n"                                        \
    "addi sp, s0, -16\n"                               \
    ".cfi_def_cfa 2, 16\n"                             \
    "ld ra, 8(sp)\n"                                   \
    "ld s0, 0(sp)\n"                                   \
    ".cfi_restore 1\n"                                 \
    ".cfi_restore 8\n"                                 \
    "addi sp, sp, 16\n"                                \
    ".cfi_def_cfa_offset 0\n"                          \
    "ret\n"                                            \
    ".cfi_endproc\n"                                   \
    ".size instr_arch_call_words, .-instr_arch_call_words\n"

/* Of code that must not change when it is read again: it is part of what a guard holds (core/thread.h). */
static inline uintptr_t instr_arch_stack_pointer(void)
{
    uintptr_t sp;
    __asm__("mv %0, sp" : "=r"(sp));
    return sp;
}

static inline uint64_t instr_arch_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}

static inline bool instr_arch_ticks_ok(unsigned long hwcap)
{
    (void)hwcap;
    return true;
}

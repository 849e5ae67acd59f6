/*
 * 64-bit Arm. The generic timer's virtual count (Arm Architecture Reference Manual, D12.2): 56 bits at least, the same on all processors, at
 * a fixed rate of 1 MHz to 1 GHz, readable by user code on Linux, which reads the same counter for clock_gettime. A read is not ordered with
 * the instructions around it; the error is some tens of nanoseconds at most, far below what ordering (isb) would cost each event.
 */
#define INSTR_ARCH_NAME "aarch64"
#define INSTR_ARCH_HAS_TICKS 1
#define INSTR_ARCH_UNALIGNED64 1
#define INSTR_ARCH_SMALL 0
#define INSTR_ARCH_POSITIVE 1
#define INSTR_ARCH_TICKS_NAME "cntvct_el0"

/* Procedure Call Standard for the Arm 64-bit Architecture, 6.4.2: eight words in registers, the others on the stack, which is a multiple of
 * 16 bytes at the call. hint #34 is bti c: this function is only called directly, but may stand in a guarded page. */
#define INSTR_ARCH_CALL_WORDS                          \
    ".text\n"                                          \
    ".p2align 2\n"                                     \
    ".hidden instr_arch_call_words\n"                  \
    ".globl instr_arch_call_words\n"                   \
    ".type instr_arch_call_words, %function\n"         \
    "instr_arch_call_words:\n"                         \
    ".cfi_startproc\n"                                 \
    "hint #34\n"                                       \
    "stp x29, x30, [sp, #-16]!\n"                      \
    ".cfi_def_cfa_offset 16\n"                         \
    ".cfi_offset 29, -16\n"                            \
    ".cfi_offset 30, -8\n"                             \
    "mov x29, sp\n"                                    \
    ".cfi_def_cfa_register 29\n"                       \
    "mov x16, x0\n"                                    \
    "mov x17, x1\n"                                    \
    "subs x9, x2, #8\n"                                \
    "b.ls 2f\n"                                        \
    "add x10, x9, #1\n"                                \
    "lsl x10, x10, #3\n"                               \
    "and x10, x10, #-16\n"                             \
    "sub sp, sp, x10\n"                                \
    "add x11, x17, #64\n"                              \
    "1: sub x9, x9, #1\n"                              \
    "ldr x12, [x11, x9, lsl #3]\n"                     \
    "mov x13, sp\n"                                    \
    "str x12, [x13, x9, lsl #3]\n"                     \
    "cbnz x9, 1b\n"                                    \
    "2: ldp x0, x1, [x17]\n"                           \
    "ldp x2, x3, [x17, #16]\n"                         \
    "ldp x4, x5, [x17, #32]\n"                         \
    "ldp x6, x7, [x17, #48]\n"                         \
    "blr x16\n"                                        \
    "mov sp, x29\n"                                    \
    ".cfi_def_cfa_register 31\n"                       \
    "ldp x29, x30, [sp], #16\n"                        \
    ".cfi_restore 29\n"                                \
    ".cfi_restore 30\n"                                \
    ".cfi_def_cfa_offset 0\n"                          \
    "ret\n"                                            \
    ".cfi_endproc\n"                                   \
    ".size instr_arch_call_words, .-instr_arch_call_words\n"

/* Of code that must not change when it is read again: it is part of what a guard holds (core/thread.h). */
static inline uintptr_t instr_arch_stack_pointer(void)
{
    uintptr_t sp;
    __asm__("mov %0, sp" : "=r"(sp));
    return sp;
}

static inline uint64_t instr_arch_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static inline bool instr_arch_ticks_ok(unsigned long hwcap)
{
    uint64_t rate;
    (void)hwcap;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate)); /* 0 where the firmware has set nothing up */
    return rate != 0;
}

/*
 * x86-64. The time-stamp counter is a clock when it is invariant: CPUID 80000007H, EDX bit 8 (Intel SDM vol. 3, 18.17.1;
 * AMD APM vol. 3). rdtsc is not ordered with the instructions around it; the error is some tens of nanoseconds at most,
 * far below what ordering (lfence, rdtscp) would cost each event.
 */
#include <cpuid.h>
#include <stddef.h>

#define INSTR_ARCH_NAME "x86_64"
#define INSTR_ARCH_HAS_TICKS 1
#define INSTR_ARCH_ORDERED_STORES 1
#define INSTR_ARCH_UNALIGNED64 1
#define INSTR_ARCH_SMALL 0
#define INSTR_ARCH_POSITIVE 1
#define INSTR_ARCH_TICKS_NAME "tsc"
#define INSTR_ARCH_HAS_MEMCHECK 1

/* System V ABI, AMD64, 3.2.3: six words in registers, the others on the stack, which is a multiple of 16 bytes at the call; %al is the
 * number of vector registers used. */
#define INSTR_ARCH_CALL_WORDS                          \
    ".text\n"                                          \
    ".p2align 4\n"                                     \
    ".hidden instr_arch_call_words\n"                  \
    ".globl instr_arch_call_words\n"                   \
    ".type instr_arch_call_words, @function\n"         \
    "instr_arch_call_words:\n"                         \
    ".cfi_startproc\n"                                 \
    "endbr64\n"                                        \
    "pushq %rbp\n"                                     \
    ".cfi_def_cfa_offset 16\n"                         \
    ".cfi_offset %rbp, -16\n"                          \
    "movq %rsp, %rbp\n"                                \
    ".cfi_def_cfa_register %rbp\n"                     \
    "movq %rdi, %r11\n"                                \
    "movq %rsi, %rax\n"                                \
    "movq %rdx, %rcx\n"                                \
    "subq $6, %rcx\n"                                  \
    "jbe 1f\n"                                         \
    "leaq 15(,%rcx,8), %r10\n"                         \
    "andq $-16, %r10\n"                                \
    "subq %r10, %rsp\n"                                \
    "leaq 48(%rax), %rsi\n"                            \
    "movq %rsp, %rdi\n"                                \
    "rep movsq\n"                                      \
    "1: movq (%rax), %rdi\n"                           \
    "movq 8(%rax), %rsi\n"                             \
    "movq 16(%rax), %rdx\n"                            \
    "movq 24(%rax), %rcx\n"                            \
    "movq 32(%rax), %r8\n"                             \
    "movq 40(%rax), %r9\n"                             \
    "xorl %eax, %eax\n"                                \
    "call *%r11\n"                                     \
    "leave\n"                                          \
    ".cfi_def_cfa %rsp, 8\n"                           \
    "ret\n"                                            \
    ".cfi_endproc\n"                                   \
    ".size instr_arch_call_words, .-instr_arch_call_words\n"

/* Of code that must not change when it is read again: it is part of what a guard holds (core/thread.h). */
static inline uintptr_t instr_arch_stack_pointer(void)
{
    uintptr_t sp;
    __asm__("mov %%rsp, %0" : "=r"(sp));
    return sp;
}

/* A performance counter: what the kernel lets user code read (perf_event_open(2), "cap_user_rdpmc"). */
static inline uint64_t instr_arch_read_counter(uint32_t counter)
{
    uint32_t low;
    uint32_t high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
    return (uint64_t)high << 32 | low;
}

/* Where a direct call that ends at `address` leads: 0 when there is none. Five bytes in front of `address` can be read. */
static inline uintptr_t instr_arch_called_before(uintptr_t address)
{
    const unsigned char *const call = (const unsigned char *)address - 5;
    int32_t distance;
    if (call[0] != 0xe8)
        return 0;
    __builtin_memcpy(&distance, call + 1, sizeof distance);
    return address + (uintptr_t)(intptr_t)distance;
}

/* Where the first instruction of a function is that keeps a frame pointer (push %rbp), behind a landing pad; 0 when it keeps none. */
static inline uintptr_t instr_arch_keeps_frame(uintptr_t function)
{
    static const unsigned char LANDING[4] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
    const unsigned char *code = (const unsigned char *)function;
    if (__builtin_memcmp(code, LANDING, sizeof LANDING) == 0)
        code += sizeof LANDING;
    return code[0] == 0x55 ? (uintptr_t)code : 0;
}

static inline uint64_t instr_arch_ticks(void)
{
    uint64_t low; /* the upper halves of both registers are 0 */
    uint64_t high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return high << 32 | low;
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

/*
 * Valgrind's memcheck reports decisions that depend on memory which nobody wrote. This says that it was written. The request (Valgrind's
 * manual, "The client request mechanism"; memcheck's third, MAKE_MEM_DEFINED) is a sequence without effect: rdi is rotated by 128 bits.
 */
static inline void instr_arch_say_written(const void *memory, size_t bytes)
{
    const volatile uint64_t request[6] = {'M' << 24 | 'C' << 16 | 2, (uintptr_t)memory, bytes, 0, 0, 0};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
}

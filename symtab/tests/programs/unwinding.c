/*
 * Every instruction of some calls, by the processor's single steps: registers, the stack, and the callers by glibc's backtrace(). Written to
 * standard output: base addresses of the loaded files first. The calls come back from a shared library, through the PLT, from qsort, by
 * a pointer, from a recursion, from a signal handler's own calls; in C++ also by a virtual function. Built as C and as C++.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define MOST 6000
#define CALLERS 40
#define WORDS 800

#ifdef __cplusplus
extern "C"
#endif
long library_calls(long (*)(long), long);

/* As the test reads it: 8-byte numbers. */
struct step {
    uint64_t pc, sp, registers[6], callers, caller[CALLERS], words, word[WORDS];
};

static struct step steps[MOST];
static unsigned taken;
static uintptr_t high;
static volatile long sink;

static void step(int number, siginfo_t *info, void *context)
{
    const greg_t *const r = ((ucontext_t *)context)->uc_mcontext.gregs;
    static const int KEPT[6] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15};
    void *found[CALLERS + 4];
    (void)number;
    (void)info;
    if (taken == MOST)
        return;
    struct step *const s = &steps[taken++];
    s->pc = (uint64_t)r[REG_RIP];
    s->sp = (uint64_t)r[REG_RSP];
    for (int i = 0; i < 6; i++)
        s->registers[i] = (uint64_t)r[KEPT[i]];
    const int count = backtrace(found, CALLERS + 4);
    int at = 0; /* this function, the kernel's return, then where the program was */
    while (at < count && (uint64_t)(uintptr_t)found[at] != s->pc)
        at++;
    for (at++; at < count && s->callers < CALLERS; at++)
        s->caller[s->callers++] = (uint64_t)(uintptr_t)found[at];
    s->words = s->sp < high ? (high - s->sp) / 8 : 0;
    if (s->words > WORDS)
        s->words = WORDS;
    memcpy(s->word, (const void *)(uintptr_t)s->sp, s->words * 8);
}

/* The trap flag, on and off. */
#ifdef __cplusplus
extern "C" {
#endif
void steps_from_here(void);
void steps_end(void);
#ifdef __cplusplus
}
#endif
#define FLAG(name, change)                                                                                                    \
    __asm__(".text\n.type " name ", @function\n" name ":\n.cfi_startproc\npushfq\n.cfi_adjust_cfa_offset 8\n" change ", (%rsp)\n" \
            "popfq\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.size " name ", . - " name "\n")
FLAG("steps_from_here", "orq $0x100");
FLAG("steps_end", "andq $~0x100");

static NOINLINE long small(long n)
{
    return n * 3 + sink;
}

static NOINLINE long many_registers(long a, long b, long c, long d)
{
    long w[12];
    for (int i = 0; i < 3; i++)
        w[i] = small(a + i) + small(b - i) * small(c ^ i) - small(d);
    sink = w[a & 1];
    return w[0] + w[1] * a + w[2] * b + c * d;
}

static NOINLINE long aligned(long n)
{
    struct { __attribute__((aligned(64))) long words[16]; } block;
    memset(&block, (int)n, sizeof block);
    sink = block.words[n & 7];
    return small(n) + block.words[3];
}

static NOINLINE long variable(long n)
{
    long *const all = (long *)__builtin_alloca((size_t)(n & 3) * 32 + 64);
    all[0] = small(n);
    all[n & 3] = many_registers(n, 1, 2, 3);
    return all[0] + all[n & 3];
}

static NOINLINE long descend(long n)
{
    return n == 0 ? small(1) : descend(n - 1) * 2 + sink;
}

static int less(const void *a, const void *b)
{
    return (int)small(*(const int *)a) - (int)small(*(const int *)b);
}

static long back(long n)
{
    int all[4] = {4, 2, (int)n, 1};
    qsort(all, 4, sizeof all[0], less);
    return descend(3) + variable(n) + aligned(n) + many_registers(n, 2, 3, all[0]);
}

#ifdef __cplusplus
struct Base {
    virtual ~Base() {}
    virtual long call(long n) = 0;
};
struct Derived : Base {
    long call(long n) override { return back(n) + small(n); }
};
static NOINLINE long by_virtual(Base *base)
{
    try {
        return base->call(5) + sink;
    } catch (...) {
        return 0;
    }
}
#endif

static int file(struct dl_phdr_info *info, size_t size, void *own)
{
    char line[4200];
    const int length = snprintf(line, sizeof line, "%lx %s\n", (unsigned long)info->dlpi_addr,
                                info->dlpi_name[0] != 0 ? info->dlpi_name : (const char *)own);
    (void)size;
    return write(1, line, (size_t)length) != length;
}

int main(int argc, char **argv)
{
    void *some[4];
    struct sigaction action;
    (void)argc;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    backtrace(some, 4); /* loads what it needs */
    high = (uintptr_t)__builtin_frame_address(0) + 64;
    long sum = 0;
    steps_from_here();
#ifdef __cplusplus
    Derived derived;
    sum += by_virtual(&derived);
#endif
    sum += library_calls(back, 7);
    sum += back(2);
    steps_end();
    if (dl_iterate_phdr(file, argv[0]) != 0 || write(1, "\n", 1) != 1)
        return 2;
    const size_t bytes = taken * sizeof steps[0];
    for (size_t at = 0; at < bytes;) {
        const ssize_t done = write(1, (const char *)steps + at, bytes - at);
        if (done <= 0)
            return 3;
        at += (size_t)done;
    }
    return sum == 42;
}

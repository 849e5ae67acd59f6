/* Return addresses on a stack. Every address is checked against the stack's bounds before it is read. */
#include "sampling/sampling.h"

#include <string.h>

#include "arch/arch.h"

#define FAR 4096u /* bytes of a leaf routine that are looked at */

#if defined(__sparc__) || defined(__x86_64__)
/* What can be read. */
static uintptr_t code_low;
static uintptr_t code_high;

void instr_sampling_code(uintptr_t low, uintptr_t high)
{
    code_low = low;
    code_high = high;
}

static bool is_code(uintptr_t address)
{
    return address >= code_low + 16 && address < code_high;
}
#else
void instr_sampling_code(uintptr_t low, uintptr_t high)
{
    (void)low;
    (void)high;
}
#endif

#if defined(__sparc__)

/* The register window's save area: %l0 to %l7, %i0 to %i7 (System V ABI, SPARC supplement, 3-13). */
#define SAVED_FRAME 14u
#define SAVED_RETURN 15u

/*
 * A leaf routine has no window of its own: its caller is known by %o7 alone. So it is if %o7 is at a call of a function that begins before
 * the program counter, and no `save` lies between.
 */
static bool calls_leaf(uintptr_t call, uintptr_t pc)
{
    if (!is_code(call) || !is_code(pc) || (call | pc) % 4 != 0)
        return false;
    const uintptr_t target = instr_arch_called_at(call);
    if (!is_code(target) || target > pc || pc - target > FAR)
        return false;
    for (uintptr_t at = target; at < pc; at += 4)
        if (instr_arch_saves(*(const uint32_t *)at))
            return false;
    return true;
}

unsigned instr_sampling_frames(const struct instr_interrupted *at, uintptr_t high, uintptr_t *stack, unsigned room)
{
    unsigned count = 0;
    uintptr_t frame = at->frame;
    if (room == 0 || high == 0)
        return 0;
    instr_arch_flush_windows();
    if (at->return_to != 0 && calls_leaf(at->return_to, at->pc))
        stack[count++] = at->return_to + 8;
    while (count < room) {
        const uintptr_t saved = frame + INSTR_SPARC_BIAS;
        if (saved % (2 * sizeof(uintptr_t)) != 0 || saved >= high || high - saved < 16 * sizeof(uintptr_t))
            break;
        const uintptr_t *words = (const uintptr_t *)saved;
        if (words[SAVED_RETURN] == 0)
            break;
        stack[count++] = words[SAVED_RETURN] + 8;
        if (words[SAVED_FRAME] <= frame)
            break;
        frame = words[SAVED_FRAME];
    }
    return count;
}

#else

#if defined(__x86_64__)
/*
 * A leaf routine may do without a frame: then its return address is the last word of the stack, and the frame pointer still its caller's.
 * So it is if that word follows a call of a function that begins before the program counter and keeps no frame pointer, or has not yet.
 */
static bool returns_to(uintptr_t address, uintptr_t pc)
{
    if (!is_code(address) || !is_code(pc))
        return false;
    const uintptr_t target = instr_arch_called_before(address);
    if (!is_code(target) || target > pc || pc - target > FAR)
        return false;
    const uintptr_t keeps = instr_arch_keeps_frame(target);
    return keeps == 0 || keeps == pc || target == pc;
}
#endif

/* RISC-V calling conventions, frame pointers: the record lies below the address in the register. */
#if defined(__riscv)
#define BELOW (2 * sizeof(uintptr_t))
#else
#define BELOW 0u
#endif

#if INSTR_SAMPLE_BEHIND != 0
#define REACH ((uintptr_t)1 << 31) /* of calls inside a program or library */

static bool is_near(uintptr_t word, uintptr_t code)
{
    return word - code + REACH < 2 * REACH;
}

/* A word that is no place in this stack, and not near code that is known to run, is the program's own: nobody needs it, and it may be a secret. */
static uintptr_t address_or_zero(uintptr_t word, const struct instr_interrupted *at, uintptr_t high, const uintptr_t *returns, unsigned count)
{
    if ((word >= at->sp && word <= high) || is_near(word, at->pc))
        return word;
    for (unsigned i = 0; i < count; i++)
        if (is_near(word, returns[i]))
            return word;
    return 0;
}

/* See sampling.h. Behind `count` return addresses. */
static unsigned behind(const struct instr_interrupted *at, uintptr_t high, bool guessed, uintptr_t *returns, unsigned count)
{
    uintptr_t *const stack = returns + count;
    if (at->sp % sizeof(uintptr_t) != 0 || at->sp >= high)
        return 0;
    const size_t there = (high - at->sp) / sizeof(uintptr_t);
    const unsigned words = there < INSTR_SAMPLE_WORDS ? (unsigned)there : INSTR_SAMPLE_WORDS;
    stack[0] = guessed;
    stack[1] = address_or_zero(at->frame, at, high, returns, count);
    for (unsigned i = 0; i < words; i++)
        stack[2 + i] = address_or_zero(((const uintptr_t *)at->sp)[i], at, high, returns, count);
    return 2 + words;
}
#endif

/* Addresses of code are between these. */
#define FIRST_PAGE 4096u
#if defined(__x86_64__)
#define LAST_ADDRESS ((uintptr_t)1 << 47)
#else
#define LAST_ADDRESS UINTPTR_MAX
#endif

/* Where functions keep a frame pointer, it leads to a record of two words: the caller's frame pointer and the return address. */
unsigned instr_sampling_frames(const struct instr_interrupted *at, uintptr_t high, uintptr_t *stack, unsigned room)
{
    unsigned count = 0;
    uintptr_t frame = at->frame - BELOW;
    uintptr_t low = at->sp;
    if (room == 0)
        return 0;
#if defined(__x86_64__)
    if (low % sizeof(uintptr_t) == 0 && low < high && returns_to(*(const uintptr_t *)low, at->pc))
        stack[count++] = *(const uintptr_t *)low;
#if INSTR_SAMPLE_BEHIND != 0
    const bool guessed = count != 0;
#endif
#endif
    while (count < room && frame >= low && frame < high && high - frame >= 2 * sizeof(uintptr_t) &&
           frame % sizeof(uintptr_t) == 0) {
        const uintptr_t *words = (const uintptr_t *)frame;
        if (words[1] < FIRST_PAGE || words[1] >= LAST_ADDRESS)
            break;
        stack[count++] = words[1];
        low = frame + 2 * sizeof(uintptr_t);
        frame = words[0] - BELOW;
    }
#if INSTR_SAMPLE_BEHIND != 0
    count += behind(at, high, guessed, stack, count);
#endif
    return count;
}

#endif

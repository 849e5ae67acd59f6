/* The clock where it is not a register, and the look at the stack pointer that hides behind it. */
#include "core/cold.h"

#include "core/record.h"

uint64_t instr_slow_ticks(uint32_t active)
{
    if ((active & INSTR_ON_STACK) != 0) {
        struct instr_thread *t = instr_self;
        const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
        /* Not below `low`: a signal handler on a stack of its own. */
        if (t != NULL && here < t->stack.seen && here >= t->stack.low)
            t->stack.seen = here;
    }
#if INSTR_ARCH_HAS_TICKS
    if ((active & INSTR_ON_CLOCKS) == INSTR_ON_TICKS)
        return instr_arch_ticks();
#endif
    return instr_platform_monotonic_ns();
}

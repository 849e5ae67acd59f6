#include "core/cold.h"

#include "core/stack.h"

#include "core/packet.h"
#include "core/record.h"
#include "core/settings.h"

/* What the runtime itself needs of the stack at most, at the point where recording begins. */
#define OWN_BYTES 8192u

static void put(uint32_t *words, unsigned kind, uintptr_t low, uintptr_t high, uintptr_t mark)
{
    instr_put_addr(instr_put_addr(instr_put_addr(instr_put32(words, kind), low), high), mark);
}

void instr_stack_begin(struct instr_thread *t)
{
    struct instr_slot s;
    uint32_t *p;
    uintptr_t low = 0;
    uintptr_t high = 0;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!instr_platform_stack_bounds(&low, &high) || here < low || here >= high)
        return;
    if (instr_settings.stack) {
        t->stack.touched = instr_platform_stack_touched(low, here);
        /* Only just below: this thread's own use. */
        if (t->stack.touched == UINTPTR_MAX)
            t->stack.touched = here;
        if (t->stack.touched != 0 && t->stack.touched + OWN_BYTES > here)
            t->stack.touched = here;
    }
    t->stack.high = high;
    t->stack.seen = here;
    INSTR_BARRIER();
    t->stack.low = low;
    if ((p = instr_open(t, &s, INSTR_EV_STACK, 1 + 3 * INSTR_ADDR_WORDS)) != NULL) {
        put(p, INSTR_STACK_BOUNDS, low, high, here);
        instr_close(&s);
    }
}

void instr_stack_end(struct instr_thread *t)
{
    const struct instr_stack *stack = &t->stack;
    uint32_t words[1 + 3 * INSTR_ADDR_WORDS];
    if (stack->low == 0 || !instr_settings.stack)
        return;
    uintptr_t touched = stack->touched != 0 ? instr_platform_stack_touched(stack->low, stack->seen) : 0;
    if (touched == UINTPTR_MAX)
        touched = stack->seen;
    if (touched != 0 && (touched < stack->touched || touched + OWN_BYTES > stack->seen))
        put(words, INSTR_STACK_TOUCHED, stack->low, stack->high, touched);
    else
        put(words, INSTR_STACK_SEEN, stack->low, stack->high, stack->seen);
    (void)instr_packet_append(t, INSTR_EV_STACK, words, sizeof words / sizeof words[0]);
}

#include "core/cold.h"

#include "core/stack.h"

#include "core/packet.h"
#include "core/record.h"
#include "core/settings.h"

#define PAINT ((uintptr_t)UINT64_C(0x1257c0de1257c0de))

/* The lowest bytes of a stack are left to whoever marks its end, to see whether it was passed. */
#define MARK_BYTES 256u

/* So many bytes of the same word, not zero, at the lower end are the program's paint. */
#define PAINTED_BYTES 1024u

static void put(uint32_t *words, unsigned kind, uintptr_t low, uintptr_t high, uintptr_t mark)
{
    instr_put_addr(instr_put_addr(instr_put_addr(instr_put32(words, kind), low), high), mark);
}

/* The word that all of the stack's lower end holds, up to `high`: paint of the program's; 0: none. */
static uintptr_t paint_of(uintptr_t bottom, uintptr_t high)
{
    uintptr_t word = 0;
    if (high - bottom < PAINTED_BYTES || !instr_platform_stack_word(bottom, &word) || word == 0 || word == PAINT)
        return 0;
    return instr_platform_stack_touched(bottom, bottom + PAINTED_BYTES, word) == UINTPTR_MAX ? word : 0;
}

static uintptr_t align(uintptr_t address)
{
    return (address + sizeof(uintptr_t) - 1) & ~(uintptr_t)(sizeof(uintptr_t) - 1);
}

/* Lowest address of the stack that can be looked at; 0: none. */
static uintptr_t bottom_of(const struct instr_stack *stack)
{
    const uintptr_t low = align(stack->low) + MARK_BYTES;
    return low < stack->seen ? instr_platform_stack_mapped(low, stack->seen) : 0;
}

static void paint(struct instr_stack *stack)
{
    const uintptr_t bottom = bottom_of(stack);
    if (bottom == 0)
        return;
    stack->painted = bottom;
    stack->paint = paint_of(bottom, stack->seen);
    if (stack->paint != 0)
        return;
    const uintptr_t used = instr_platform_stack_touched(bottom, stack->seen, 0);
    if (used == 0) {
        stack->painted = 0;
        return;
    }
    if (stack->seen - bottom > INSTR_CFG_PAINT_BYTES)
        stack->painted = align(stack->seen - INSTR_CFG_PAINT_BYTES);
    if (stack->painted > used)
        stack->painted = used;
    stack->paint = PAINT;
    instr_platform_stack_paint(stack->painted, PAINT);
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
    t->stack = (struct instr_stack){.low = low, .seen = here};
    if (instr_settings.stack)
        paint(&t->stack);
    INSTR_BARRIER();
    t->stack.high = high;
    if ((p = instr_open(t, &s, INSTR_EV_STACK, 1 + 3 * INSTR_ADDR_WORDS)) != NULL) {
        put(p, INSTR_STACK_BOUNDS, low, high, here);
        instr_close(&s);
    }
}

/* The lowest address in use, and in `kind` whether that is sure; 0: it cannot be told. */
static uintptr_t lowest(const struct instr_stack *stack, unsigned *kind)
{
    const uintptr_t bottom = bottom_of(stack);
    if (bottom == 0 || stack->painted == 0)
        return 0;
    *kind = INSTR_STACK_TOUCHED;
    const uintptr_t paint = paint_of(bottom, stack->seen); /* maybe the program has painted since */
    if (paint != 0)
        return instr_platform_stack_touched(bottom, stack->seen, paint);
    const uintptr_t deeper = stack->painted > bottom ? instr_platform_stack_touched(bottom, stack->painted, 0) : UINTPTR_MAX;
    if (deeper == UINTPTR_MAX)
        return instr_platform_stack_touched(stack->painted, stack->seen, stack->paint);
    *kind = INSTR_STACK_SEEN;
    return deeper;
}

void instr_stack_end(struct instr_thread *t)
{
    const struct instr_stack *stack = &t->stack;
    uint32_t words[1 + 3 * INSTR_ADDR_WORDS];
    unsigned kind = INSTR_STACK_SEEN;
    if (stack->high == 0 || !instr_settings.stack)
        return;
    uintptr_t mark = lowest(stack, &kind);
    if (mark == 0)
        kind = INSTR_STACK_SEEN;
    if (mark == 0 || mark > stack->seen)
        mark = stack->seen;
    put(words, kind, stack->low, stack->high, mark);
    (void)instr_packet_append(t, INSTR_EV_STACK, words, sizeof words / sizeof words[0]);
}

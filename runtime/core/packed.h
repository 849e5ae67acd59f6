/*
 * The events whose fields share words (docs/trace-format.md): a parallel construct, an implicit task, a task.
 *
 * An address of code has 32 bits where these are enough: nearly all are near to the program's own (instr_code_base, which the metadata tells).
 * Of the others the high half follows.
 */
#ifndef INSTR_PACKED_H
#define INSTR_PACKED_H

#include "core/record.h"

/* An address in the program's code. Addresses of 32 bits need none. */
#if UINTPTR_MAX > 0xffffffffu
extern uintptr_t instr_code_base;
#endif

_Static_assert(INSTR_CFG_DEPENDS_PER_EVENT <= INSTR_MOST_TASK_CREATE_COUNT, "INSTR_CFG_DEPENDS_PER_EVENT is too large");

/* Whether the low half of an address does not say it all. */
static inline uint32_t instr_is_far(uintptr_t code)
{
#if UINTPTR_MAX > 0xffffffffu
    return (code - instr_code_base + 0x80000000u) >> 32 != 0;
#else
    (void)code;
    return 0;
#endif
}

/* The high half of an address, if it is far. */
static inline uint32_t *instr_put_far(uint32_t *p, uintptr_t code, uint32_t far)
{
#if UINTPTR_MAX > 0xffffffffu
    if (!INSTR_LIKELY(far == 0))
        return instr_put32(p, (uint32_t)(code >> 32));
#else
    (void)code;
    (void)far;
#endif
    return p;
}

static inline void instr_parallel_begin(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t requested, uint32_t kind)
{
    struct instr_slot s;
    const uint32_t far = instr_is_far(function);
    uint32_t *p = instr_open(t, &s, INSTR_EV_PARALLEL_BEGIN, 3 + far);
    if (p == NULL)
        return;
    if (!INSTR_LIKELY(requested <= INSTR_MOST_PARALLEL_BEGIN_REQUESTED))
        requested = INSTR_MOST_PARALLEL_BEGIN_REQUESTED;
    p = instr_put32(instr_put32(p, seq), (uint32_t)function);
    p = instr_put32(p, INSTR_NUMBERS_PARALLEL_BEGIN(requested, kind, far));
    instr_put_far(p, function, far);
    instr_close(&s);
}

/* The words of an implicit_begin with these numbers. */
static inline size_t instr_implicit_words(uint32_t number, uint32_t size)
{
    return INSTR_LIKELY((number | size) <= INSTR_MOST_IMPLICIT_BEGIN_THREAD_NUM) ? 3 : 5;
}

/* Its payload where these are few. */
static inline void instr_put_implicit(uint32_t *p, uint32_t thread, uint32_t seq, uint32_t number, uint32_t size)
{
    instr_put32(instr_put32(instr_put32(p, thread), seq), INSTR_NUMBERS_IMPLICIT_BEGIN(number, size, 0));
}

static inline void instr_implicit_record(struct instr_thread *t, uint32_t thread, uint32_t seq, uint32_t number, uint32_t size)
{
    struct instr_slot s;
    const size_t words = instr_implicit_words(number, size);
    uint32_t *p = instr_open(t, &s, INSTR_EV_IMPLICIT_BEGIN, words);
    if (p == NULL)
        return;
    if (INSTR_LIKELY(words == 3)) {
        instr_put_implicit(p, thread, seq, number, size);
    } else {
        instr_put_implicit(p, thread, seq, 0, 0);
        p[2] |= INSTR_NUMBERS_IMPLICIT_BEGIN(0, 0, 2);
        instr_put32(instr_put32(p + 3, number), size);
    }
    instr_close(&s);
}

/* Opens a task_create with `count` dependences, and returns where these go; NULL: as of instr_open(). */
static inline uint32_t *instr_task_open(struct instr_thread *t, struct instr_slot *s, uint32_t seq, uintptr_t function, uint32_t flags,
                                        size_t count)
{
    const uint32_t far = instr_is_far(function);
    uint32_t *p = instr_open(t, s, INSTR_EV_TASK_CREATE, 3 + far + count * INSTR_DEPEND_WORDS);
    if (p == NULL)
        return NULL;
    p = instr_put32(instr_put32(p, seq), (uint32_t)function);
    p = instr_put32(p, INSTR_NUMBERS_TASK_CREATE(flags & INSTR_MOST_TASK_CREATE_FLAGS, far, count));
    return instr_put_far(p, function, far);
}

#endif

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
static inline bool instr_is_far(uintptr_t code)
{
#if UINTPTR_MAX > 0xffffffffu
    const int64_t distance = (int64_t)(code - instr_code_base);
    return !INSTR_LIKELY(distance == (int32_t)distance);
#else
    (void)code;
    return false;
#endif
}

/* parallel_begin; `far` is a constant. A process of 32 bits has no room for the threads of a team that large. */
static inline __attribute__((always_inline)) void instr_parallel_put(struct instr_thread *t, uint32_t seq, uintptr_t function,
                                                                     uint32_t requested, uint32_t kind, uint32_t far)
{
    if (UINTPTR_MAX > 0xffffffffu && !INSTR_LIKELY(requested <= INSTR_MOST_PARALLEL_BEGIN_REQUESTED))
        requested = INSTR_MOST_PARALLEL_BEGIN_REQUESTED;
    const uint32_t numbers = INSTR_NUMBERS_PARALLEL_BEGIN(requested, kind, far);
    if (far == 0) {
        instr_event3(t, INSTR_EV_PARALLEL_BEGIN, seq, (uint32_t)function, numbers);
        return;
    }
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_PARALLEL_BEGIN, 4);
    if (p == NULL)
        return;
    p = instr_put32(instr_put32(instr_put32(p, seq), (uint32_t)function), numbers);
    instr_put32(p, (uint32_t)((uint64_t)function >> 32));
    instr_close(&s);
}

/* Out of line: of a function that is far. */
void instr_parallel_far(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t requested, uint32_t kind);

static inline void instr_parallel_begin(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t requested, uint32_t kind)
{
    if (instr_is_far(function))
        instr_parallel_far(t, seq, function, requested, kind);
    else
        instr_parallel_put(t, seq, function, requested, kind, 0);
}

/* The words of an implicit_begin with these numbers. A process of 32 bits has no team of so many threads. */
static inline size_t instr_implicit_words(uint32_t number, uint32_t size)
{
    return UINTPTR_MAX <= 0xffffffffu || INSTR_LIKELY((number | size) <= INSTR_MOST_IMPLICIT_BEGIN_THREAD_NUM) ? 3 : 5;
}

/* Its payload where these are few. */
static inline void instr_put_implicit(uint32_t *p, uint32_t thread, uint32_t seq, uint32_t number, uint32_t size)
{
    instr_put32(instr_put32(instr_put32(p, thread), seq), INSTR_NUMBERS_IMPLICIT_BEGIN(number, size, 0));
}

static inline void instr_implicit_record(struct instr_thread *t, uint32_t thread, uint32_t seq, uint32_t number, uint32_t size)
{
    if (INSTR_LIKELY(instr_implicit_words(number, size) == 3)) {
        instr_event3(t, INSTR_EV_IMPLICIT_BEGIN, thread, seq, INSTR_NUMBERS_IMPLICIT_BEGIN(number, size, 0));
        return;
    }
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_IMPLICIT_BEGIN, 5);
    if (p == NULL)
        return;
    p = instr_put32(instr_put32(instr_put32(p, thread), seq), INSTR_NUMBERS_IMPLICIT_BEGIN(0, 0, 2));
    instr_put32(instr_put32(p, number), size);
    instr_close(&s);
}

/* The numbers of a task_create that share a word. */
static inline uint32_t instr_task_numbers(uint32_t flags, size_t count, uint32_t far)
{
    return INSTR_NUMBERS_TASK_CREATE(INSTR_BIG_ENDIAN ? flags : flags & INSTR_MOST_TASK_CREATE_FLAGS, count, far);
}

/* Opens a task_create with `count` dependences, and returns where these go; NULL: as of instr_open(). */
static inline __attribute__((always_inline)) uint32_t *instr_task_open(struct instr_thread *t, struct instr_slot *s, uint32_t seq,
                                                                       uintptr_t function, uint32_t flags, size_t count, uint32_t far)
{
    uint32_t *p = instr_open(t, s, INSTR_EV_TASK_CREATE, 3 + far + count * INSTR_DEPEND_WORDS);
    if (p == NULL)
        return NULL;
    p = instr_put32(instr_put32(p, seq), (uint32_t)function);
    p = instr_put32(p, instr_task_numbers(flags, count, far));
    return far != 0 ? instr_put32(p, (uint32_t)((uint64_t)function >> 32)) : p;
}

#endif

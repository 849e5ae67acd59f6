/*
 * Ordered depend(source) and depend(sink). GOMP_doacross_wait takes as many values as the loop nest has loops, by variable arguments, and
 * only libgomp and the start of the loop know how many: the start's probe remembers it (probes/loop_doacross.c). To be right also
 * when an inner nest ran unrecorded, as many are passed on as the widest nest of this thread had: more than libgomp reads never
 * harms. When no start was seen at all (the program wraps it itself), UNSEEN are.
 */
#include "core/cold.h"

#include "arch/arch.h"
#include "core/record.h"
#include "instr/probes.h"
#include "probes/local.h"
#include "probes/work_end.h"

#define RECORDED 256u /* values of a vector that are told */
#define UNSEEN 64u
#define REGISTERS 8u /* INSTR_ARCH_CALL_WORDS reads at most as many words that no argument stands in */

/* doacross with the first values of `vector`, each of `bytes` bytes. */
static void record(unsigned kind, const void *vector, size_t bytes)
{
    struct instr_thread *const t = instr_thread();
    const uint32_t count = instr_local.doacross < RECORDED ? instr_local.doacross : RECORDED;
    struct instr_slot s;
    uint32_t *p;
    if (t == NULL || (p = instr_open(t, &s, INSTR_EV_DOACROSS, 2 + 2 * (size_t)count)) == NULL)
        return;
    p = instr_put32(instr_put32(p, kind), count);
    for (uint32_t i = 0; i < count; i++)
        p = instr_put64(p, bytes == 8 ? ((const uint64_t *)vector)[i] : (uint64_t)((const long *)vector)[i]);
    instr_close(&s);
}

void instr_probe_doacross_post(void (*real)(long *), long *vector)
{
    record(INSTR_DOACROSS_SOURCE, vector, sizeof *vector);
    real(vector);
}

void instr_probe_doacross_ull_post(void (*real)(instr_ull *), instr_ull *vector)
{
    record(INSTR_DOACROSS_SOURCE, vector, sizeof *vector);
    real(vector);
}

#ifdef INSTR_ARCH_CALL_WORDS
/* Calls `real` with arguments of one type, which lie in memory as in an array, told in words of a register. */
void instr_arch_call_words(void (*real)(void), const void *words, size_t count);
__asm__(INSTR_ARCH_CALL_WORDS);

#define ROOM(total) ((total) < REGISTERS ? REGISTERS : (total))
#define CALL(type, v, total) instr_arch_call_words((void (*)(void))real, v, (total) * (sizeof(type) / sizeof(void *)))
#else
/* No way to pass a number of arguments that is known only now: always as many, which is more than any nest has loops. */
#define A4(n) v[n], v[(n) + 1], v[(n) + 2], v[(n) + 3]
#define A16(n) A4(n), A4((n) + 4), A4((n) + 8), A4((n) + 12)
#define ROOM(total) UNSEEN
#define CALL(type, v, total) real(A16(0), A16(16), A16(32), A16(48))
#endif

#define DEFINE_WAIT(name, type)                                                \
    void instr_probe_##name(void (*real)(type, ...), type first, va_list rest) \
    {                                                                          \
        const uint32_t total = instr_local.widest != 0 ? instr_local.widest : UNSEEN; \
        type v[ROOM(total)];                                                   \
        v[0] = first;                                                          \
        for (uint32_t i = 1; i < total && i < sizeof v / sizeof *v; i++)       \
            v[i] = va_arg(rest, type);                                         \
        record(INSTR_DOACROSS_SINK, v, sizeof(type));                          \
        struct instr_thread *t = instr_wait_begin(INSTR_SYNC_DOACROSS);        \
        CALL(type, v, total);                                                  \
        instr_wait_end(t, INSTR_SYNC_DOACROSS);                                \
    }

DEFINE_WAIT(doacross_wait, long)
DEFINE_WAIT(doacross_ull_wait, instr_ull)

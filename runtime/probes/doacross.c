/*
 * Ordered depend(source) and depend(sink). GOMP_doacross_wait takes as many values as the loop nest has loops, by variable arguments, and
 * only libgomp and the start of the loop know how many: the start's probe remembers it (probes/loop_doacross.c). To be right also
 * when an inner nest ran unrecorded, as many are passed on as the widest nest of this thread had: more than libgomp reads never
 * harms. When no start was seen at all (the program wraps it itself), UNSEEN are. No compiler
 * nests more than LIMIT loops.
 */
#include "core/cold.h"

#include "core/record.h"
#include "instr/probes.h"
#include "probes/local.h"
#include "probes/work_end.h"

#define LIMIT 256u
#define UNSEEN 64u
#define NARROW 8u /* nests up to this wide, all there are in practice, need little stack */

/* doacross with the first values of `vector`. */
#define RECORD(kind, vector)                                                                        \
    do {                                                                                            \
        struct instr_thread *const t = instr_thread();                                              \
        const uint32_t count = instr_local.doacross < LIMIT ? instr_local.doacross : LIMIT;         \
        struct instr_slot s;                                                                        \
        uint32_t *p;                                                                                \
        if (t != NULL && (p = instr_open(t, &s, INSTR_EV_DOACROSS, 2 + 2 * (size_t)count)) != NULL) { \
            p = instr_put32(instr_put32(p, (kind)), count);                                         \
            for (uint32_t i = 0; i < count; i++)                                                    \
                p = instr_put64(p, (uint64_t)(vector)[i]);                                          \
            instr_close(&s);                                                                        \
        }                                                                                           \
    } while (0)

void instr_probe_doacross_post(void (*real)(long *), long *vector)
{
    RECORD(INSTR_DOACROSS_SOURCE, vector);
    real(vector);
}

void instr_probe_doacross_ull_post(void (*real)(instr_ull *), instr_ull *vector)
{
    RECORD(INSTR_DOACROSS_SOURCE, vector);
    real(vector);
}

#define A2(n) v[n], v[(n) + 1]
#define A4(n) A2(n), A2((n) + 2)
#define A8(n) A4(n), A4((n) + 4)
#define A16(n) A8(n), A8((n) + 8)
#define A64(n) A16(n), A16((n) + 16), A16((n) + 32), A16((n) + 48)
#define A256 A64(0), A64(64), A64(128), A64(192)

/* Fills v, so that the `total` values that were given come first, and tells them. */
#define TAKE(type, size)                            \
    type v[size] = {first};                         \
    for (uint32_t i = 1; i < total; i++)            \
        v[i] = va_arg(rest, type);                  \
    RECORD(INSTR_DOACROSS_SINK, v);                 \
    struct instr_thread *t = instr_wait_begin(INSTR_SYNC_DOACROSS)

#define DEFINE_WAIT(name, type)                                                                                       \
    static __attribute__((noinline)) void wide_##name(void (*real)(type, ...), type first, va_list rest, uint32_t total) \
    {                                                                                                                 \
        TAKE(type, LIMIT);                                                                                            \
        real(A256);                                                                                                   \
        instr_wait_end(t, INSTR_SYNC_DOACROSS);                                                                       \
    }                                                                                                                 \
                                                                                                                      \
    void instr_probe_##name(void (*real)(type, ...), type first, va_list rest)                                        \
    {                                                                                                                 \
        const uint32_t widest = instr_local.widest;                                                                   \
        const uint32_t total = widest == 0 ? UNSEEN : widest < LIMIT ? widest : LIMIT;                                \
        if (total > NARROW) {                                                                                         \
            wide_##name(real, first, rest, total);                                                                    \
            return;                                                                                                   \
        }                                                                                                             \
        TAKE(type, NARROW);                                                                                           \
        if (total == 1)                                                                                               \
            real(v[0]);                                                                                               \
        else if (total == 2)                                                                                          \
            real(A2(0));                                                                                              \
        else if (total <= 4)                                                                                          \
            real(A4(0));                                                                                              \
        else                                                                                                          \
            real(A8(0));                                                                                              \
        instr_wait_end(t, INSTR_SYNC_DOACROSS);                                                                       \
    }

DEFINE_WAIT(doacross_wait, long)
DEFINE_WAIT(doacross_ull_wait, instr_ull)

/* The events that a thread has just recorded. Without recording (INSTR_ENABLED=0) there are none, and nothing is checked. */
#ifndef RECORDED_H
#define RECORDED_H
#include "check.h"
#include "core/packed.h"
#include "core/record.h"

static inline const uint32_t *recorded_from(void)
{
    return instr_self != NULL ? (const uint32_t *)(const void *)instr_self->cursor : NULL;
}

/* The next event is `id` with this payload; a word of ANY is not looked at. Returns the one behind it. */
#define ANY 0xa5a5a5a5u
static inline const uint32_t *recorded(const uint32_t *p, unsigned id, size_t words, const uint32_t *payload)
{
    if (p == NULL)
        return NULL;
    const uint32_t *const end = (const uint32_t *)(const void *)instr_self->cursor;
    unsigned found = end > p ? (INSTR_BIG_ENDIAN ? p[0] >> 25 : p[0] & 0x7f) : 0;
    size_t header = 1;
    if (found == 127) { /* an extended header: the id in the other bits, then the whole clock */
        found = INSTR_BIG_ENDIAN ? p[0] & 0x1ffffff : p[0] >> 7;
        header = 3;
    }
    if (end < p || (size_t)(end - p) < header + words) {
        fprintf(stderr, "event %u: not recorded\n", id);
        failures++;
        return p;
    }
    p += header;
    if (found != id) {
        fprintf(stderr, "event %u: found %u\n", id, found);
        failures++;
    }
    for (size_t i = 0; i < words; i++)
        if (payload[i] != ANY && p[i] != payload[i]) {
            fprintf(stderr, "event %u: word %zu is %#x, not %#x\n", id, i, (unsigned)p[i], (unsigned)payload[i]);
            failures++;
        }
    return p + words;
}

/* The bits of one word that are set when a number is so many places up, counted as CTF does. */
#define PLACED(number, first, size) (INSTR_BIG_ENDIAN ? (uint32_t)(number) << (32 - (first) - (size)) : (uint32_t)(number) << (first))

/* An event whose second word is an address of code and whose third has a 1 in its last two bits if a fourth has the address' high half; then `more` words. */
static inline const uint32_t *recorded_code(const uint32_t *p, unsigned id, uint32_t seq, uintptr_t code, uint32_t numbers, const uint32_t *more, size_t count)
{
    uint32_t words[8] = {seq, (uint32_t)code, numbers};
    size_t used = 3;
#if UINTPTR_MAX > 0xffffffffu
    const int64_t distance = (int64_t)(code - instr_code_base);
    if (distance < INT32_MIN || distance > INT32_MAX) {
        words[2] |= PLACED(1, 30, 2);
        words[used++] = (uint32_t)(code >> 32);
    }
#endif
    for (size_t i = 0; i < count; i++)
        words[used++] = more[i];
    return recorded(p, id, used, words);
}

#define RECORDED_PARALLEL(p, seq, code, requested, kind) \
    recorded_code(p, INSTR_EV_PARALLEL_BEGIN, seq, (uintptr_t)(code), PLACED(requested, 0, 21) | PLACED(kind, 21, 9), NULL, 0)
#define RECORDED_IMPLICIT(p, thread, seq, number, size) \
    RECORDED(p, INSTR_EV_IMPLICIT_BEGIN, thread, seq, PLACED(number, 0, 15) | PLACED(size, 15, 15))
/* Behind the flags: how many dependences there are, and their words. */
#define RECORDED_TASK(p, seq, code, flags, ...) \
    recorded_task(p, seq, (uintptr_t)(code), flags, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static inline const uint32_t *recorded_task(const uint32_t *p, uint32_t seq, uintptr_t code, uint32_t flags, const uint32_t *list, size_t words)
{
    return recorded_code(p, INSTR_EV_TASK_CREATE, seq, code, PLACED(flags, 0, 21) | PLACED(list[0], 21, 9), list + 1, words - 1);
}

/* An entry of a list of dependences. */
#if UINTPTR_MAX > 0xffffffffu
#define WORDS_DEPEND(address, kind)                                                               \
    WORDS64(INSTR_BIG_ENDIAN ? (uint64_t)(uintptr_t)(address) << 8 | (uint64_t)(kind)             \
                             : ((uint64_t)(uintptr_t)(address) & (UINT64_MAX >> 8)) | (uint64_t)(kind) << 56)
#else
#define WORDS_DEPEND(address, kind) (uint32_t)(uintptr_t)(address), kind
#endif

#define RECORDED0(p, id) recorded(p, id, 0, NULL)
#define RECORDED(p, id, ...) \
    recorded(p, id, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})

/* Nothing else was recorded. */
static inline void recorded_end(const uint32_t *p)
{
    CHECK(p == recorded_from());
}

/* A 64-bit number and an address as words of an event. */
#if INSTR_BIG_ENDIAN
#define WORDS64(x) (uint32_t)((uint64_t)(x) >> 32), (uint32_t)(uint64_t)(x)
#else
#define WORDS64(x) (uint32_t)(uint64_t)(x), (uint32_t)((uint64_t)(x) >> 32)
#endif
#if UINTPTR_MAX > 0xffffffffu
#define WORDS_ADDR(x) WORDS64((uintptr_t)(x))
#else
#define WORDS_ADDR(x) (uint32_t)(uintptr_t)(x)
#endif
#endif

/* The events that a thread has just recorded. Without recording (INSTR_ENABLED=0) there are none, and nothing is checked. */
#ifndef RECORDED_H
#define RECORDED_H
#include "check.h"
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
    if (end < p || (size_t)(end - p) < 2 + words) {
        fprintf(stderr, "event %u: not recorded\n", id);
        failures++;
        return p;
    }
    const unsigned found = INSTR_BIG_ENDIAN ? p[0] >> 24 : p[0] & 0xff;
    if (found != id) {
        fprintf(stderr, "event %u: found %u\n", id, found);
        failures++;
    }
    for (size_t i = 0; i < words; i++)
        if (payload[i] != ANY && p[2 + i] != payload[i]) {
            fprintf(stderr, "event %u: word %zu is %#x, not %#x\n", id, i, (unsigned)p[2 + i], (unsigned)payload[i]);
            failures++;
        }
    return p + 2 + words;
}

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

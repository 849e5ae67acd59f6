/* GOMP_doacross_wait takes as many arguments as the nest has loops: libgomp gets them all, for every width, of both types. */
#include <stdarg.h>

#include "instr/probes.h"
#include "recorded.h"

#define MOST 100

static unsigned width; /* arguments that the false libgomp reads */
static unsigned calls;

/* Large, different in both halves, and negative for every other one. */
static long value(unsigned i)
{
    const long v = (long)(0x10000 + i * 3u) << (sizeof(long) == 8 ? 24 : 4) | (long)i;
    return i % 2 ? -v : v;
}

static instr_ull value_ull(unsigned i)
{
    return (UINT64_C(0xfedc0000) + i) << 32 | (UINT64_C(0x01230000) + 7 * i);
}

static void real_wait(long first, ...)
{
    va_list rest;
#if defined(__x86_64__)
    CHECK((uintptr_t)__builtin_frame_address(0) % 16 == 0);
#endif
    va_start(rest, first);
    CHECK(first == value(0));
    for (unsigned i = 1; i < width; i++)
        CHECK(va_arg(rest, long) == value(i));
    va_end(rest);
    calls++;
}

static void real_ull_wait(instr_ull first, ...)
{
    va_list rest;
    va_start(rest, first);
    CHECK(first == value_ull(0));
    for (unsigned i = 1; i < width; i++)
        CHECK(va_arg(rest, instr_ull) == value_ull(i));
    va_end(rest);
    calls++;
}

/* As the generated stubs are. */
static __attribute__((noinline)) void stub_wait(long first, ...)
{
    va_list rest;
    va_start(rest, first);
    instr_probe_doacross_wait(real_wait, first, rest);
    va_end(rest);
}

static __attribute__((noinline)) void stub_ull_wait(instr_ull first, ...)
{
    va_list rest;
    va_start(rest, first);
    instr_probe_doacross_ull_wait(real_ull_wait, first, rest);
    va_end(rest);
}

static long counts[MOST];
static long begin, end;

static bool real_start(unsigned ncounts, long *c, long chunk, long *istart, long *iend)
{
    CHECK(ncounts == width && c == counts && chunk == 5 && istart == &begin && iend == &end);
    *istart = 2;
    *iend = 7;
    return true;
}

static void real_post(long *vector)
{
    CHECK(vector == counts);
    calls++;
}

#define V4(f, n) f(n), f((n) + 1), f((n) + 2), f((n) + 3)
#define V20(f, n) V4(f, n), V4(f, (n) + 4), V4(f, (n) + 8), V4(f, (n) + 12), V4(f, (n) + 16)
#define V100(f) V20(f, 0), V20(f, 20), V20(f, 40), V20(f, 60), V20(f, 80)

int main(void)
{
    /* No start was seen: 64 values. */
    width = 64;
    stub_wait(V100(value));
    stub_ull_wait(V100(value_ull));
    CHECK(calls == 2);

    counts[0] = 9;
    for (width = 1; width <= MOST; width++) {
        calls = 0;
        begin = end = 0;
        CHECK(instr_probe_loop_doacross_start(real_start, INSTR_LOOP_DYNAMIC, width, counts, 5, &begin, &end));
        CHECK(begin == 2 && end == 7);
        const uint32_t *p = recorded_from();
        stub_wait(V100(value));
        if (width == 2) {
            p = RECORDED(p, INSTR_EV_DOACROSS, INSTR_DOACROSS_SINK, 2, WORDS64((int64_t)value(0)), WORDS64((int64_t)value(1)));
            p = RECORDED(p, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_DOACROSS);
            p = RECORDED(p, INSTR_EV_SYNC_END, INSTR_SYNC_DOACROSS);
            recorded_end(p);
        }
        p = recorded_from();
        stub_ull_wait(V100(value_ull));
        if (width == 1) {
            p = RECORDED(p, INSTR_EV_DOACROSS, INSTR_DOACROSS_SINK, 1, WORDS64(value_ull(0)));
            p = RECORDED(p, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_DOACROSS);
            p = RECORDED(p, INSTR_EV_SYNC_END, INSTR_SYNC_DOACROSS);
            recorded_end(p);
        }
        CHECK(calls == 2);
    }
    instr_probe_doacross_post(real_post, counts);
    CHECK(calls == 3);
    return failures != 0;
}

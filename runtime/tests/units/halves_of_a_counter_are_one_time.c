/* A counter that is read in halves, one after the other, while it runs: an event has the time at which the low half was read, or takes the long way. */
#include <stdint.h>

static uint64_t counter;
static uint64_t between; /* ticks that a read takes */

#define INSTR_ARCH_HAS_HALVES 1
static inline uint32_t instr_arch_ticks_low(void)
{
    const uint32_t low = (uint32_t)counter;
    counter += between;
    return low;
}

static inline uint32_t instr_arch_ticks_high(void)
{
    const uint32_t high = (uint32_t)(counter >> 32);
    counter += between;
    return high;
}

#include "check.h"
#include "core/record.h"

#define RANGE (UINT64_C(1) << 25)
#define TURN (UINT64_C(1) << 32)

static struct instr_thread thread;

static void read_at(uint64_t last, uint64_t now, uint64_t ticks)
{
    uint32_t words[2] = {0};
    thread.last_event = last;
    counter = now;
    between = ticks;
    uint32_t *const payload = instr_put_near(&thread, words, 5);
    const uint32_t low = INSTR_BIG_ENDIAN ? words[0] & 0x1ffffff : words[0] >> 7;
    const uint32_t id = INSTR_BIG_ENDIAN ? words[0] >> 25 : words[0] & 0x7f;
    if (payload != NULL) {
        CHECK(payload == words + 1 && id == 5 && low == (now & (RANGE - 1)));
        CHECK(thread.last_event == now && now - last < RANGE);
    } else {
        CHECK(thread.last_event == last && words[0] == 0);
        /* Not without need: the event is far from the last one, or the high half has changed in between. */
        CHECK(now - last >= RANGE || last >> 32 != (now + ticks) >> 32);
    }
}

int main(void)
{
    /* Offsets around all places where something turns over. */
    static const uint64_t places[] = {0, 1, RANGE - 1, RANGE, TURN - RANGE - 1, TURN - RANGE, TURN - 2, TURN - 1, TURN, TURN + 1, TURN + RANGE,
                                      2 * TURN - 1, 2 * TURN, 3 * TURN + 5, 40 * TURN - 1};
    static const uint64_t gaps[] = {0, 1, 2, 80, RANGE - 2, RANGE - 1, RANGE, RANGE + 1, TURN - 1, TURN, TURN + 1, TURN + RANGE - 1, 2 * TURN, 7 * TURN + 3};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < sizeof gaps / sizeof *gaps; j++)
            for (uint64_t ticks = 0; ticks < 4; ticks++) {
                read_at(places[i], places[i] + gaps[j], ticks);
                if (places[i] >= gaps[j])
                    read_at(places[i] - gaps[j], places[i], ticks);
            }
    /* Where the last event's time is not known there is no short way. */
    uint32_t word = 0;
    thread.last_event = counter = 77;
    between = 0;
    instr_forget_time(&thread);
    CHECK(instr_put_near(&thread, &word, 5) == NULL);
    return failures != 0;
}

/*
 * User events against the least that any tracer does: read the time stamp counter, store 16 bytes, advance.
 * Blocks of the two take turns, so that a change of the machine's speed meets both.
 *
 *   events EVENTS_PER_BLOCK
 */
#include "bench.h"

#include <instr/instr.h>

enum { FLOOR_BYTES = 1 << 20 };

static uint64_t floor_buffer[FLOOR_BYTES / sizeof(uint64_t)];
static uint64_t *volatile floor_cursor = floor_buffer;

static double floor_block(long events)
{
    uint64_t *end = floor_buffer + FLOOR_BYTES / sizeof(uint64_t);
    double begin = bench_now();
    for (long i = 0; i < events; i++) {
        uint64_t *cursor = floor_cursor;
        cursor[0] = bench_ticks();
        cursor[1] = (uint64_t)i;
        floor_cursor = cursor + 2 == end ? floor_buffer : cursor + 2;
    }
    return bench_now() - begin;
}

static double event_block(long events)
{
    double begin = bench_now();
    for (long i = 0; i < events; i++)
        instr_event(1000, (uint64_t)i);
    return bench_now() - begin;
}

int main(int argc, char **argv)
{
    long events = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    double floor_times[BENCH_BLOCKS], event_times[BENCH_BLOCKS];
    floor_block(events);
    event_block(events);
    for (int block = 0; block < BENCH_BLOCKS; block++) {
        floor_times[block] = floor_block(events);
        event_times[block] = event_block(events);
    }
    bench_print("floor", floor_times, events);
    bench_print("event", event_times, events);
    return 0;
}

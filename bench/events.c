/*
 * User events against the least that any tracer does: read the time stamp counter, store 16 bytes, advance.
 * Blocks of the two take turns, so that a change of the machine's speed meets both.
 *
 *   events EVENTS_PER_BLOCK BLOCKS
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
    struct bench bench = bench_arguments(argc, argv);
    double floor_times[BENCH_LARGEST_BLOCKS], event_times[BENCH_LARGEST_BLOCKS];
    floor_block(bench.operations);
    event_block(bench.operations);
    for (int block = 0; block < bench.blocks; block++) {
        floor_times[block] = floor_block(bench.operations);
        event_times[block] = event_block(bench.operations);
    }
    bench_print("floor", &bench, floor_times);
    bench_print("event", &bench, event_times);
    return 0;
}

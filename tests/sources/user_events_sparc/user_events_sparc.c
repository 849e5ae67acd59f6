// As user_events, for big-endian targets, 32 and 64 bits.
//# Targets: sparc-linux sparc64-linux
//# Flags: -O2
//# Expect: threads.len = 1
//# Expect: parallel_regions.len = 0
//# Events: user_event = 7 + 3 + 1
//# Events: user_event{type=4000} = 3
//# Events: user_event{type=4001,value=18446744073709551615} = 1
//# Events: region_begin = 4 + 2
//# Events: region_end = 4 + 2
//# Events: counter = 5
//# Events: counter{value=-9223372036854775808} = 1
//# Events: tracing_off = 1
//# Events: tracing_on = 1
#include <instr/instr.h>
#include <stdint.h>
#include <stdio.h>

static void work(int depth)
{
    instr_region_begin("work");
    if (depth > 0)
        work(depth - 1);
    instr_region_end();
}

int main(void)
{
    for (uint64_t i = 1; i <= 7; i++)
        instr_event(3000, i);
    for (uint64_t i = 1; i <= 3; i++)
        instr_event(4000, i << 40);
    work(3);
    instr_region_begin("outer");
    instr_region_begin("inner");
    instr_region_end();
    instr_region_end();
    for (int64_t i = 0; i < 4; i++)
        instr_counter("level", 2 - i);
    instr_counter("level", INT64_MIN);
    instr_stop();
    instr_stop();
    for (uint64_t i = 1; i <= 100; i++)
        instr_event(5000, i);
    instr_start(NULL);
    instr_start(NULL);
    instr_event(4001, UINT64_MAX);
    instr_flush();
    printf("done\n");
    return 0;
}

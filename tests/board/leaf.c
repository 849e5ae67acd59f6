/* Nearly all time is spent in a function that calls none and has no frame. */
#include <stdint.h>

#include <rtems.h>

#include <instr/instr.h>

/* Counts down, in the registers of its caller's frame. */
uint32_t leaf(uint32_t value, uint32_t count);
__asm__(".text\n"
        ".align 4\n"
        ".globl leaf\n"
        ".type leaf, #function\n"
        "leaf:\n"
        "1: subcc %o1, 1, %o1\n"
        "bne 1b\n"
        "add %o0, %o1, %o0\n"
        "retl\n"
        "nop\n"
        ".size leaf, .-leaf\n");

__attribute__((noinline)) uint32_t caller(uint32_t value)
{
    return leaf(value, 100000) + 1;
}

int main(void)
{
    uint32_t value = 1;
    const uint64_t end = rtems_clock_get_uptime_nanoseconds() + 400000000;
    instr_event(1, 1);
    while (rtems_clock_get_uptime_nanoseconds() < end)
        value = caller(value);
    instr_event(2, value);
    return 0;
}

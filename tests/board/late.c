/* A line on the console when main begins, then three regions of 100 ms. */
#include <rtems.h>
#include <rtems/bspIo.h>

#include <instr/instr.h>

int main(void)
{
    for (const char *c = "main begins\n"; *c != '\0'; c++)
        rtems_putc(*c);
    for (int i = 0; i < 3; i++) {
        instr_region_begin("100 ms");
        const uint64_t end = rtems_clock_get_uptime_nanoseconds() + 100000000;
        while (rtems_clock_get_uptime_nanoseconds() < end)
            ;
        instr_region_end();
    }
    return 0;
}

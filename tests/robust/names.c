// usage: names
// Regions of one name, many packets of them.
#include <instr/instr.h>
#include <stdio.h>

int main(void)
{
    for (int i = 0; i < 100000; i++) {
        instr_region_begin("the only region");
        instr_counter("the only counter", i);
        instr_region_end();
    }
    puts("done");
    return 0;
}

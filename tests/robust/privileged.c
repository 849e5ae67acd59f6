// Says whether it runs with rights that its user has not, and records something.
#include <instr/instr.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(void)
{
    for (unsigned i = 1; i <= 100; i++)
        instr_event(680, i);
    printf("secure %lu\n", getauxval(AT_SECURE));
    return 0;
}

// usage: events COUNT [waits]
// One thread records the numbers 1 to COUNT and says so; with `waits` at the end of its standard input.
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    while (argc > 2 && getchar() != EOF)
        continue;
    printf("recording %lu\n", count);
    for (unsigned long i = 1; i <= count; i++)
        instr_event(500, i);
    fprintf(stderr, "done\n");
    return 0;
}

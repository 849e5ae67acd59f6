// A program that says in its headers that it has the runtime of another version.
#include <stdint.h>
#include <stdio.h>

int library_work(int value);

const struct {
    uint32_t version, bytes;
    void (*find)(void), (*join)(void), (*leave)(void);
} other_table = {9999, sizeof other_table, 0, 0, 0};

__asm__(".pushsection .note.instr,\"a\",%note\n.balign 4\n.long 6\n.long 4\n.long 1\n.asciz \"instr\"\n.balign 4\n"
        ".long other_table - .\n.popsection\n");

int main(void)
{
    printf("%d\n", library_work(7));
    return 0;
}

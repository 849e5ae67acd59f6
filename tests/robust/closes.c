// A program that closes every descriptor it does not know, changes its directory and its mask, and goes on.
#include <instr/instr.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    for (unsigned i = 1; i <= 100; i++)
        instr_event(650, i);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    if (chdir("/") != 0)
        return 1;
    umask(0777);
    // The lowest free descriptor must still be 3 while the program runs.
    int mine = dup(1);
    for (unsigned i = 101; i <= 10000; i++)
        instr_event(650, i);
    printf("%d %d\n", mine, dup(1));
    return 0;
}

// usage: daemon COUNT
// The parent records nothing and ends at once; its child goes on for a moment and records the numbers 1 to COUNT.
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    const pid_t parent = getpid();
    if (fork() != 0)
        return 0;
    while (getppid() == parent)
        usleep(1000);
    usleep(50000); /* the parent's destructors are over */
    for (unsigned long i = 1; i <= count; i++)
        instr_event(500, i);
    printf("child\n"); /* whoever waits for the end of the output waits for the child */
    return 0;
}

// usage: daemon COUNT [closes]
// The parent records nothing and ends at once; its child goes on for a moment and records the numbers 1 to COUNT.
// With `closes` the child closes all descriptors first, as daemons do. After half of its events it makes the file `half`, and goes on when there
// is a file `go`; at the end it makes the file `done`.
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void make(const char *name)
{
    close(open(name, O_CREAT | O_WRONLY, 0600));
}

/* Before the trace is complete: that is when its metadata say so. */
static void end(void)
{
    make("done");
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    const pid_t parent = getpid();
    if (fork() != 0)
        return 0;
    while (getppid() == parent)
        usleep(1000);
    usleep(50000); /* the parent's destructors are over */
    if (argc > 2)
        for (int fd = 0; fd < 4096; fd++)
            close(fd);
    for (unsigned long i = 1; i <= count; i++) {
        instr_event(500, i);
        if (argc > 2 && i == count / 2) {
            make("half");
            for (int wait = 0; wait < 20000 && access("go", F_OK) != 0; wait++)
                usleep(1000);
        }
    }
    if (argc > 2) {
        atexit(end);
        return 0;
    }
    printf("child\n"); /* whoever waits for the end of the output waits for the child */
    return 0;
}

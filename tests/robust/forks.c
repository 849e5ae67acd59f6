// usage: forks MODE [ARGUMENTS OF THE PROGRAM TO EXECUTE]
// The parent records 10 events before and 10 after; the child 7 (modes child, child-_exit, grandchild), or executes another program.
// In mode `again` (behind it: the trace's folder) there are two children, and the first one's trace gets the name of the second's: as if
// both had the same process id.
#define _GNU_SOURCE
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void record(unsigned type, int count)
{
    for (int i = 1; i <= count; i++)
        instr_event(type, (unsigned)i);
}

static int wait_for(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return 99;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static pid_t first; /* child of two */

static void be_child(const char *mode, char **arguments)
{
    if (strncmp(mode, "exec", 4) == 0 || strcmp(mode, "vfork") == 0) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    if (strcmp(mode, "silent") == 0)
        _exit(11);
    if (strcmp(mode, "again") == 0 && first != 0) {
        char from[4096], to[4096];
        snprintf(from, sizeof from, "%s/fork-%d", arguments[0], (int)first);
        snprintf(to, sizeof to, "%s/fork-%d", arguments[0], (int)getpid());
        (void)rename(from, to);
        record(72, 5);
        exit(11);
    }
    record(71, 7);
    if (strcmp(mode, "grandchild") == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            record(72, 5);
            exit(6);
        }
        printf("grandchild %d\n", wait_for(grandchild));
    }
    if (strcmp(mode, "child-_exit") == 0)
        _exit(12);
    printf("child\n");
    exit(11);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "child";
    record(70, 10);
    if (strcmp(mode, "replace") == 0) {
        execv(argv[2], argv + 2);
        return 127;
    }
#ifdef _OPENMP
    int team = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        team++;
    }
    printf("team %d\n", team);
#endif
    fflush(stdout);
    pid_t child = strcmp(mode, "vfork") == 0 ? vfork() : fork();
    if (child == 0)
        be_child(mode, argv + 2);
    int status = wait_for(child);
    if (strcmp(mode, "again") == 0) {
        first = child;
        child = fork();
        if (child == 0)
            be_child(mode, argv + 2);
        status = wait_for(child);
    }
    record(70, 10);
    printf("parent saw %d\n", status);
    return 5;
}

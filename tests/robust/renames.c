// A library to be preloaded: renames of files in folders fail. The first RENAMES_FAIL of them do as on a full disk; where RENAMES_KILL is set,
// the process is killed at the first one.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int renameat(int from, const char *old_name, int to, const char *new_name)
{
    static int calls;
    const char *const fail = getenv("RENAMES_FAIL");
    if (getenv("RENAMES_KILL") != NULL)
        raise(SIGKILL);
    if (fail != NULL && calls++ < atoi(fail)) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from, old_name, to, new_name, 0);
}

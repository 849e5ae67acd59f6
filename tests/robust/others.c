// A library to be preloaded: what other runs, which begin in the same moment under the same name, do to the folder OTHERS_PLACE. OTHERS_DO says
// when, and it is done once:
// - mkdirat: one that gave up removes the folder, just after it was made here.
// - flock: one took the folder, and was over and moved away; another has just made the next one.
// - access: one took the folder, and is moved away just before it is looked at.
// - gone: the folder was moved away just before its lock is taken.
// And what file systems do that are not like others:
// - shared: folders that are made can be written by a group.
// - unlocked: there are no locks.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_now(const char *call)
{
    const char *const wanted = getenv("OTHERS_DO");
    return wanted != NULL && strcmp(wanted, call) == 0;
}

static void move_away(void)
{
    const char *const place = getenv("OTHERS_PLACE");
    char other[4096];
    snprintf(other, sizeof other, "%s.away", place);
    if (rename(place, other) != 0)
        abort();
}

int mkdirat(int in, const char *name, mode_t mode)
{
    static bool done;
    const long made = syscall(SYS_mkdirat, in, name, mode);
    static int tries;
    if (is_now("shared") && (tries++ > 3 || chmod(name, 0770) != 0))
        abort(); /* another name is no better */
    if (made == 0 && !done && is_now("mkdirat")) {
        done = true;
        if (unlinkat(in, name, AT_REMOVEDIR) != 0)
            abort();
    }
    return (int)made;
}

int flock(int fd, int operation)
{
    static bool done;
    if (!done && (is_now("flock") || is_now("access"))) {
        done = true;
        if (is_now("flock")) {
            move_away();
            mkdir(getenv("OTHERS_PLACE"), S_IRWXU);
        }
        errno = EWOULDBLOCK;
        return -1;
    }
    if (!done && is_now("gone")) {
        done = true;
        move_away();
    }
    if (is_now("unlocked")) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, operation);
}

int access(const char *name, int mode)
{
    static bool done;
    if (!done && is_now("access")) {
        done = true;
        move_away();
    }
    return (int)syscall(SYS_faccessat, AT_FDCWD, name, mode);
}

/* Which files are loaded by paths that instr-cc knew. Only for files with _GNU_SOURCE. */
#ifndef INSTR_LIBRARY_TRUSTED_H
#define INSTR_LIBRARY_TRUSTED_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma weak dladdr

#define INSTR_TRUSTED_BYTES 4096 /* PATH_MAX */

/*
 * Whether nobody can have put another file at `path`: all folders on the way, and the file, are of users whose code runs here anyway (this
 * user, who owns "/", who owns the object that `own` lies in), and what others may write into lets them take away only what is theirs. The
 * folder of things built once may be gone, and somebody else have made one of its name in /tmp.
 */
static inline bool instr_is_trusted(const char *path, const void *own)
{
    struct stat at;
    Dl_info object;
    char part[INSTR_TRUSTED_BYTES];
    const uid_t user = geteuid();
    const uid_t top = lstat("/", &at) == 0 ? at.st_uid : user;
    const bool found = dladdr != NULL && dladdr(own, &object) != 0 && stat(object.dli_fname, &at) == 0;
    const uid_t owner = found ? at.st_uid : user;
    for (size_t length = 1; path[0] == '/' && length <= strlen(path); length++) {
        if (path[length] != '/' && path[length] != '\0')
            continue;
        if (length >= sizeof part)
            return false;
        memcpy(part, path, length);
        part[length] = '\0';
        if (lstat(part, &at) != 0 || (at.st_uid != user && at.st_uid != top && at.st_uid != owner))
            return false;
        if (!S_ISLNK(at.st_mode) && (at.st_mode & S_IWOTH) != 0 && (at.st_mode & S_ISVTX) == 0)
            return false;
    }
    return path[0] == '/';
}

#endif

/*
 * The folder that the launcher (instr run) made for the traces of processes that its program starts: INSTR_TREE=LAUNCHER:FOLDER//TRACE, where
 * LAUNCHER is a process number, FOLDER an absolute path, and TRACE the launcher's INSTR_TRACE.
 *
 * Not a unit of its own: libinstr-preload.so has no other part of the sinks.
 */
#ifndef INSTR_FILE_TREE_H
#define INSTR_FILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Copies the folder's path into `path`, an array of `bytes` bytes. Where `tree` (it may be NULL) goes on behind it, at the "//"; NULL: there is no
 * such folder any more, it is not this user's alone, or there is no run.
 */
static inline const char *instr_tree_folder(const char *tree, char *path, size_t bytes)
{
    const char *const from = tree != NULL ? strchr(tree, ':') : NULL;
    const char *const end = from != NULL && from[1] == '/' ? strstr(from + 2, "//") : NULL;
    const size_t length = end != NULL ? (size_t)(end - from) - 1 : bytes;
    struct stat status;
    if (length >= bytes)
        return NULL;
    memcpy(path, from + 1, length);
    path[length] = '\0';
    const bool is_own = lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                        (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return is_own ? end : NULL;
}

#endif

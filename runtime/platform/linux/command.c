/* The command line of the process and its settings, as the host shows them. */
#define _GNU_SOURCE

#include "core/cold.h"

#include "platform/platform.h"

#if INSTR_KEEPS_RUNS

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "INSTR_"
#define TEXT_BYTES 1024u

static char arguments[TEXT_BYTES];
static char variables[TEXT_BYTES]; /* one behind the other, each ended by 0; the last one by two */

/* Each argument in /proc/self/cmdline ends with 0; the first is the program's name. */
static void keep_arguments(void)
{
    char text[TEXT_BYTES + 256];
    size_t used = 0;
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t count;
    while (used < sizeof text && (count = read(fd, text + used, sizeof text - used)) > 0)
        used += (size_t)count;
    close(fd);
    const char *const end = memchr(text, '\0', used);
    size_t at = end != NULL ? (size_t)(end - text) + 1 : used;
    size_t length = 0;
    for (; at < used && length + 1 < sizeof arguments; at++)
        arguments[length++] = text[at] != '\0' ? text[at] : ' ';
    while (length > 0 && arguments[length - 1] == ' ')
        length--;
    arguments[length] = '\0';
}

static void keep_variables(void)
{
    size_t used = 0;
    for (char **v = environ; v != NULL && *v != NULL; v++) {
        if (strncmp(*v, PREFIX, sizeof PREFIX - 1) != 0)
            continue;
        const size_t length = strnlen(*v, TEXT_BYTES);
        if (used + length + 2 > sizeof variables)
            continue;
        memcpy(variables + used, *v, length);
        used += length + 1;
    }
}

void instr_platform_keep_command(void)
{
    keep_arguments();
    keep_variables();
}

const char *instr_platform_arguments(void)
{
    return arguments;
}

const char *instr_platform_variable(uint32_t index)
{
    const char *at = variables;
    for (; index > 0 && *at != '\0'; index--)
        at += strlen(at) + 1;
    return *at != '\0' ? at : NULL;
}

#endif

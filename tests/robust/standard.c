// usage: standard FILE COUNT
// Two threads record 1 to COUNT each, while the initial thread reads from standard input and writes to standard output and errors, whether or not
// there are any. Writes to FILE how often that worked, the number of the first descriptor that is free, and how often the other threads wrote to
// one of these: whatever the runtime writes passes by here, since its calls are bound to the program's own `write`.
#define _GNU_SOURCE
#include <fcntl.h>
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long count;
static volatile int ended;
static unsigned long astray;
static _Thread_local int is_initial;

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (fd <= 2 && !is_initial)
        __atomic_fetch_add(&astray, 1, __ATOMIC_SEQ_CST);
    return syscall(SYS_write, fd, bytes, size);
}

static void *record(void *type)
{
    for (unsigned long i = 1; i <= count; i++)
        instr_event((uint32_t)(size_t)type, i);
    __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];
    unsigned long worked = 0;
    char byte;
    is_initial = 1;
    if (argc < 3)
        return 2;
    const int first = open("/dev/null", O_RDONLY);
    close(first);
    count = strtoul(argv[2], NULL, 10);
    for (size_t i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, record, (void *)(660 + i)) != 0)
            return 1;
    while (ended < 2)
        worked += (read(0, &byte, 1) >= 0) + (write(1, "out of place\n", 13) >= 0) + (write(2, "out of place\n", 13) >= 0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    FILE *const told = fopen(argv[1], "w");
    if (told == NULL)
        return 3;
    fprintf(told, "%lu %d %lu\n", worked, first, astray);
    return fclose(told);
}

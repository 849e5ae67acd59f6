// usage: leaves HOW
// Two threads record 20 events each, meet at a barrier, and then the program ends in one of many ways.
#define _GNU_SOURCE
#include <instr/instr.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void at_end(void)
{
    printf("handler of the program\n");
    fflush(stdout);
    instr_event(801, 1);
}

static void leave(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(21);
    if (strcmp(how, "_exit") == 0)
        _exit(22);
    if (strcmp(how, "_Exit") == 0)
        _Exit(23);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(24);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    int leaver = argc > 2 ? atoi(argv[2]) : 0;
    atexit(at_end);
    at_quick_exit(at_end);
    printf("leaving by %s\n", how);
    fflush(stdout);
#pragma omp parallel num_threads(2)
    {
        for (unsigned i = 1; i <= 20; i++)
            instr_event(800, i);
#pragma omp barrier
        if (omp_get_thread_num() == leaver && strcmp(how, "return") != 0 && strcmp(how, "pthread_exit") != 0)
            leave(how);
#pragma omp barrier
    }
    if (strcmp(how, "pthread_exit") == 0)
        pthread_exit(NULL);
    return 20;
}

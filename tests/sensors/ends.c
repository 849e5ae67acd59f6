/* Ways in which a process ends or goes on while the runtime's own thread reads sensors: "plain", "last-thread" (the initial thread ends
 * before another), "fork" (a child that works on), "closes" (the program closes every descriptor and opens others), "signals" (a handler that must run on a
 * thread of the program). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <instr/instr.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int foreign;
static _Thread_local int is_mine;

static void pause_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static void work(void)
{
    instr_region_begin("work");
    pause_ms(120);
    instr_region_end();
}

static void *other(void *unused)
{
    (void)unused;
    pause_ms(60);
    work();
    puts("done");
    fflush(stdout);
    return NULL;
}

static void on_signal(int number)
{
    (void)number;
    if (!is_mine)
        foreign = 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    pthread_t thread;
    is_mine = 1;
    instr_event(1, 1);
    if (strcmp(how, "last-thread") == 0) {
        if (pthread_create(&thread, NULL, other, NULL) != 0)
            return 1;
        pthread_exit(NULL);
    }
    if (strcmp(how, "fork") == 0) {
        const pid_t child = fork();
        int status = 0;
        work();
        if (child == 0)
            return 7;
        return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7 ? puts("done"), 0 : 2;
    }
    if (strcmp(how, "closes") == 0) {
        for (int fd = 3; fd < 65536; fd++)
            close(fd);
        int ends[2];
        for (int i = 0; i < 64; i++)
            if (pipe(ends) != 0)
                return 3;
        work();
        for (int i = 0; i < 64; i++)
            if (fcntl(3 + i, F_GETFD) < 0)
                return 4;
        puts("done");
        return 0;
    }
    if (strcmp(how, "signals") == 0) {
        struct sigaction action = {.sa_handler = on_signal};
        sigaction(SIGUSR1, &action, NULL);
        for (int i = 0; i < 50; i++) {
            kill(getpid(), SIGUSR1);
            pause_ms(2);
        }
        puts(foreign ? "a foreign thread ran the handler" : "done");
        return 0;
    }
    work();
    puts("done");
    return 0;
}

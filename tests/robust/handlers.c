// usage: handlers MODE N FILE
// A timer's handler records N events at a time while the program records others. MODE: `exit` or `killed`, at the end; `leaves`: the
// handler returns by siglongjmp, with N = 1 on a stack of its own; `stack`: as `exit`, the handler on a stack of its own, which lies outside of
// the frames that it interrupts; `trap`: as `exit`, by SIGTRAP, which the runtime never holds; `threads`, `threads-killed`: as `exit` and `killed`, in threads
// that begin and end while signals come. FILE gets how many events the program, and the handler, recorded.
#include <instr/instr.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 1500000, LEAVES = 150, LAST = 1000, THREADS = 3000, EACH_THREAD = 30 };
static volatile long recorded, handled;
static volatile int each, again;
static sigjmp_buf back;

static void record(int number)
{
    (void)number;
    for (int i = 0; i < each; i++) {
        instr_event(701, (unsigned)handled);
        handled = handled + 1;
    }
    again = 1;
}

static void leave(int number)
{
    (void)number;
    handled = handled + 1;
    siglongjmp(back, 1);
}

static void tell(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "%ld %ld\n", recorded, handled);
        fclose(file);
    }
}

static __attribute__((noinline)) int run(char **argv, int leaves)
{
    /* The program starts the timer again, behind its event: no two calls of a handler interrupt the same one. */
    struct itimerval period = {{0, leaves ? 300 : 0}, {0, 300}}, off = {{0, 0}, {0, 0}};
    const int traps = strcmp(argv[1], "trap") == 0;
    if (traps) {
        timer_t timer;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTRAP};
        struct itimerspec often = {{0, 50000}, {0, 50000}};
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_settime(timer, 0, &often, NULL);
    } else {
        setitimer(ITIMER_REAL, &period, NULL);
    }
    if (leaves) {
        (void)sigsetjmp(back, 1);
        while (handled < LEAVES) {
            instr_event(700, (unsigned)recorded);
            recorded = recorded + 1;
        }
    } else {
        while (recorded < COUNT) {
            instr_event(700, (unsigned)recorded);
            recorded = recorded + 1;
            if (again && !traps) {
                again = 0;
                setitimer(ITIMER_REAL, &period, NULL);
            }
        }
    }
    setitimer(ITIMER_REAL, &off, NULL);
    signal(SIGTRAP, SIG_IGN);
    for (int i = 0; leaves && i < LAST; i++)
        instr_event(702, (unsigned)i);
    tell(argv[3]);
    if (strcmp(argv[1], "killed") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}

/* The only thread that lets the signal through. */
static void *record_some(void *unused)
{
    sigset_t mine;
    (void)unused;
    sigemptyset(&mine);
    sigaddset(&mine, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &mine, NULL);
    for (int i = 0; i < EACH_THREAD; i++) {
        instr_event(700, (unsigned)recorded);
        recorded = recorded + 1;
    }
    return NULL;
}

static int run_threads(char **argv)
{
    struct itimerval period = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
    sigset_t others;
    sigemptyset(&others);
    sigaddset(&others, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &others, NULL);
    setitimer(ITIMER_REAL, &period, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, record_some, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    tell(argv[3]);
    if (strcmp(argv[1], "threads-killed") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    char stack[64 << 10];
    if (argc < 4)
        return 2;
    const int leaves = strcmp(argv[1], "leaves") == 0;
    each = atoi(argv[2]);
    struct sigaction action = {.sa_handler = leaves ? leave : record};
    if ((leaves && each == 1) || strcmp(argv[1], "stack") == 0) {
        stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
        sigaltstack(&own, NULL);
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGTRAP, &action, NULL);
    return strncmp(argv[1], "threads", 7) == 0 ? run_threads(argv) : run(argv, leaves);
}

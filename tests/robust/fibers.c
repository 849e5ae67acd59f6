// usage: fibers FILE
// Three contexts with stacks of their own take turns whenever a timer's handler says so, also in the middle of an event. FILE gets how many
// events they recorded.
#define _GNU_SOURCE
#include <instr/instr.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { CONTEXTS = 3, COUNT = 150000, STACK = 1 << 18 };
static ucontext_t contexts[CONTEXTS], home;
static volatile int current, done[CONTEXTS];
static volatile long recorded[CONTEXTS];

/* The next context that is not done; the same one when there is none. */
static int next(int own)
{
    int other = own;
    do
        other = (other + 1) % CONTEXTS;
    while (done[other] && other != own);
    return other;
}

static void handler(int number)
{
    const int own = current, other = next(own);
    (void)number;
    if (other == own)
        return;
    current = other;
    swapcontext(&contexts[own], &contexts[other]);
}

static void body(int own)
{
    for (long i = 0; i < COUNT; i++) {
        instr_event(710, (unsigned long)i);
        recorded[own] = recorded[own] + 1;
    }
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    done[own] = 1;
    current = next(own);
    setcontext(current != own ? &contexts[current] : &home);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval period = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
    for (int i = 0; i < CONTEXTS; i++) {
        getcontext(&contexts[i]);
        void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        contexts[i].uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK};
        contexts[i].uc_link = &home;
        sigemptyset(&contexts[i].uc_sigmask);
        makecontext(&contexts[i], (void (*)(void))body, 1, i);
    }
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &period, NULL);
    swapcontext(&home, &contexts[0]);
    setitimer(ITIMER_REAL, &off, NULL);
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%ld\n", recorded[0] + recorded[1] + recorded[2]);
        fclose(file);
    }
    return 0;
}

// A handler that comes while tasks are created and run, at any instruction of a probe: it finds the thread it interrupts, on its own
// stack, and changes nothing; masks and handlers of all threads are what the program made them.
//
//# Flags: -O1 -fopenmp
//# SkipTarget: sparc-linux qemu loses %xcc at a signal in a 32-bit program, and memcpy of glibc branches on it
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t came, wrong;
static char other_stack[65536];

static void handler(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    const int thread = omp_get_thread_num();
    if (number != SIGPROF || thread < 0 || thread > 2)
        wrong = 1;
    errno = EXDEV; /* the program's own mistake: with or without us it sees it */
    came = 1;
}

static int same_mask(void)
{
    sigset_t mask;
    int blocked = 0;
    if (pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0)
        return 0;
    for (int i = 1; i < 32; i++)
        blocked += sigismember(&mask, i) == 1;
    return blocked == 1 && sigismember(&mask, SIGUSR2) == 1;
}

int main(void)
{
    struct sigaction action, found;
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &block, NULL);
    sigaltstack(&stack, NULL);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigaction(SIGPROF, &action, NULL);
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &often, NULL);

    long sum = 0, expected = 0, masks = 0, threads = 0;
    for (int round = 0; round < 400 && (round < 20 || !came); round++) {
#pragma omp parallel reduction(+ : masks, threads)
        {
            masks += same_mask();
            threads++;
#pragma omp single
            for (int i = 0; i < 500; i++) {
#pragma omp task firstprivate(i) shared(sum)
                {
#pragma omp atomic
                    sum += i;
                }
            }
        }
        expected += 500 * 499 / 2;
    }
    setitimer(ITIMER_PROF, &never, NULL);
    sigaction(SIGPROF, NULL, &found);
    int others = 0;
    for (int i = 1; i < 32; i++) {
        struct sigaction one;
        if (i != SIGPROF && sigaction(i, NULL, &one) == 0)
            others += one.sa_handler != SIG_DFL && one.sa_handler != SIG_IGN;
    }
    stack_t now;
    sigaltstack(NULL, &now);
    printf("sum %d, signal came %d, wrong %d, masks as set %d\n", sum == expected, (int)came, (int)wrong, masks == threads);
    printf("handler kept %d, other handlers %d, stack kept %d\n", found.sa_sigaction == handler && found.sa_flags & SA_ONSTACK, others,
           now.ss_sp == other_stack);
    return 0;
}

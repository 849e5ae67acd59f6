// usage: signals FILE
// The program records 1 to 50,000 while a timer's signal handler records too. FILE gets the number of handler calls. The handler starts the timer
// again as it ends: on a busy machine the program gets on between two calls too.
#include <instr/instr.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { COUNT = 50000 };
static const struct itimerval once = {{0, 0}, {0, 50}};
static volatile sig_atomic_t calls;

static void handler(int number)
{
    (void)number;
    calls = calls + 1;
    instr_event(701, (unsigned)calls);
    setitimer(ITIMER_REAL, &once, NULL);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    int wrong = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
    errno = 77;
    for (unsigned i = 1; i <= COUNT; i++) {
        instr_event(700, i);
        instr_region_begin("part");
        instr_region_end();
        wrong += errno != 77;
    }
    signal(SIGALRM, SIG_IGN);
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%d\n", (int)calls);
        fclose(file);
    }
    printf("%d\n", wrong);
    return 0;
}

// The program takes the signal that samples are taken by: it has it alone from then on, and sees what it would see without them.
//# Flags: -O1
//# Env: INSTR_SAMPLING_PERIOD=1ms
//# Expect: samples.lost = 0
#define _GNU_SOURCE
#include <instr/instr.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t calls;
static volatile uint64_t sink;

static void mine(int signal)
{
    (void)signal;
    calls++;
}

static void spin(void)
{
    for (uint64_t i = 0; i < 30000000; i++)
        sink += i;
}

int main(void)
{
    struct sigaction action;
    struct sigaction old;
    instr_event(1, 1);
    spin();
    sigaction(SIGURG, NULL, &old);
    const int before = old.sa_handler == SIG_DFL;
    memset(&action, 0, sizeof action);
    action.sa_handler = mine;
    sigaction(SIGURG, &action, &old);
    const int replaced = old.sa_handler == SIG_DFL;
    spin();
    const int none = calls == 0;
    raise(SIGURG);
    printf("%d %d %d %d\n", before, replaced, none, calls == 1);
    return 0;
}

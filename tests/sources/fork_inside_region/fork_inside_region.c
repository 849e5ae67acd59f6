// A child forked inside a parallel region leaves the region: its events must not end up in its parent's trace.
//# Flags: -O1 -fopenmp
//# Events: parallel_begin = 1
//# Events: parallel_end = 1
//# Events: implicit_end = 1
//# Events: user_event = 1
#include <instr/instr.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    pid_t child = 0;
#pragma omp parallel num_threads(1)
    {
        child = fork();
        if (child > 0) {
            int status = 0;
            waitpid(child, &status, 0);
        }
    }
    if (child == 0)
        _exit(0);
    instr_event(5, 1);
    puts("done");
    return 0;
}

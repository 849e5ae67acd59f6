// Calls a library that it is linked with. Its own and the library's regions are told apart by their numbers. With an argument: also in a child.
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int library_work(int value);

int main(int argc, char **argv)
{
    int sum = 0;
    (void)argv;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        sum++;
    }
    sum += library_work(7);
    instr_event(901, 1);
    if (argc > 1) {
        fflush(stdout);
        const pid_t child = fork();
        int status = 0;
        if (child == 0) {
            instr_event(905, 1);
            exit(library_work(8));
        }
        waitpid(child, &status, 0);
        sum += WEXITSTATUS(status);
    }
    printf("%d\n", sum);
    return 0;
}

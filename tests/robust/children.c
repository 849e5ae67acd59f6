// usage: children COUNT EACH
// COUNT children, one after the other, record 1 to EACH and leave by exit.
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    const unsigned long each = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    long ended = 0;
    for (long i = 0; i < count; i++) {
        int status = 0;
        const pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0) {
            for (unsigned long k = 1; k <= each; k++)
                instr_event(680, k);
            exit(0);
        }
        ended += waitpid(child, &status, 0) == child && status == 0;
    }
    printf("%ld children\n", ended);
    return 0;
}

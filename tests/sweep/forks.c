/* As many processes as threads are asked for, each 50 ms in the region `work` at the same time; around them the region `all`. */
#include <instr/instr.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void rest(void)
{
    const struct timespec time = {0, 50000000};
    nanosleep(&time, NULL);
}

int main(void)
{
    const char *const text = getenv("OMP_NUM_THREADS");
    const int processes = text != NULL ? atoi(text) : 1;
    instr_region_begin("all");
    for (int i = 0; i < processes; i++) {
        if (fork() == 0) {
            rest();
            instr_region_begin("work");
            rest();
            instr_region_end();
            _exit(0);
        }
    }
    for (int i = 0; i < processes; i++)
        (void)wait(NULL);
    instr_region_end();
    return 0;
}

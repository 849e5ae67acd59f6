/*
 * Constructs of known times, 1 ms and more asleep each, by the first argument:
 *   exclusive  ten tasks of 4 ms of which two never run at the same time: 40 ms on any number of threads
 *   nogroup    a taskloop of four tasks of 10 ms without a group, beside 40 ms of the thread that makes them: 40 ms on two threads and more
 *   undeferred ten tasks of 4 ms with if(0): 40 ms on any number of threads
 *   sections   of 40, 10 and 10 ms: 40 ms on three threads and more
 */
#include <string.h>
#include <unistd.h>

static int sum;

static void exclusive(void)
{
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(mutexinoutset : sum)
        usleep(4000);
    }
}

static void nogroup(void)
{
#pragma omp taskloop nogroup num_tasks(4)
    for (int i = 0; i < 4; i++)
        usleep(10000);
    usleep(40000);
}

static void undeferred(void)
{
    for (int i = 0; i < 10; i++) {
#pragma omp task if (0)
        usleep(4000);
    }
}

static void sections(void)
{
#pragma omp parallel sections
    {
#pragma omp section
        usleep(40000);
#pragma omp section
        usleep(10000);
#pragma omp section
        usleep(10000);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "sections") == 0) {
        sections();
        return 0;
    }
#pragma omp parallel
#pragma omp single
    {
        if (strcmp(name, "exclusive") == 0)
            exclusive();
        else if (strcmp(name, "nogroup") == 0)
            nogroup();
        else
            undeferred();
    }
    return 0;
}

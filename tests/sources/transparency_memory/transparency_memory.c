// What tasks and regions needed is given back: memory in use does not grow with their number, neither the program's heap nor what the
// process holds; the trace's windows are of a fixed size. The end-to-end tests run it with up to a million tasks (argument: tasks a round).
//
//# Targets: x86_64-linux
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 10*(2000 + 40)
//# Expect: tasks.executed = 10*(2000 + 40)
#include <malloc.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long sum;

/* Resident memory that is not of files, in KiB. */
static long resident(void)
{
    long size = 0, whole = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld %ld", &size, &whole, &shared) != 3)
        whole = shared = 0;
    if (f != NULL)
        fclose(f);
    return (whole - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

struct large {
    char bytes[3000];
};

static void round_of_tasks(int tasks)
{
    struct large large = {{1}};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < tasks; i++) {
#pragma omp task firstprivate(i)
            {
#pragma omp atomic
                sum += i;
            }
            if (i % 50 == 0) {
#pragma omp task firstprivate(large)
                {
#pragma omp atomic
                    sum += large.bytes[0];
                }
            }
            if (i % 512 == 0) {
#pragma omp taskwait
            }
        }
    }
    for (int i = 0; i < 100; i++) {
#pragma omp parallel
        {
#pragma omp atomic
            sum += omp_get_thread_num() >= 0;
        }
    }
}

int main(int argc, char **argv)
{
    const int tasks = argc > 1 ? atoi(argv[1]) : 2000;
    round_of_tasks(tasks); /* what is kept for good is there now */
    const size_t heap = mallinfo2().uordblks;
    const long held = resident();
    for (int i = 0; i < 9; i++)
        round_of_tasks(tasks);
    const long heap_grew = (long)(mallinfo2().uordblks - heap);
    const long grew = resident() - held;
    printf("sum %ld, heap grew %d, process grew %d\n", sum, heap_grew > 4 * 1024 * 1024, grew > 1024);
    if (heap_grew > 4 * 1024 * 1024 || grew > 1024)
        fprintf(stderr, "heap by %ld bytes, process by %ld KiB\n", heap_grew, grew);
    return 0;
}

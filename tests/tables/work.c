// A program with something for every table: tasks with dependences, a lock that threads wait for, regions, loops, the program's own events, the heap.
#include <instr/instr.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static omp_lock_t lock;
static volatile unsigned long sink;

static void work(int rounds)
{
    for (int i = 0; i < rounds * 1000; i++)
        sink += (unsigned long)i;
}

static void chain(int *cells, int length)
{
    for (int i = 0; i < length; i++) {
#pragma omp task depend(inout : cells[0])
        work(2);
#pragma omp task depend(in : cells[0]) depend(out : cells[1])
        work(1);
    }
#pragma omp taskwait
}

int main(void)
{
    int cells[2] = {0};
    omp_init_lock(&lock);
    instr_region_begin("tasks");
#pragma omp parallel num_threads(3)
#pragma omp single
    chain(cells, 20);
    instr_region_end();

    instr_region_begin("locks");
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
        for (int i = 0; i < 10; i++) {
            // Whoever holds it sleeps, so that others wait for it on any machine.
            omp_set_lock(&lock);
            usleep(200);
            omp_unset_lock(&lock);
#pragma omp critical(sum)
            work(1);
        }
    }
    instr_region_end();

    for (int i = 0; i < 5; i++) {
        void *volatile block = malloc(1000 + 100 * (size_t)i);
        instr_event(7, (uint64_t)i);
        instr_counter("left", 5 - i);
        free(block);
    }
#pragma omp parallel for schedule(dynamic, 4) num_threads(3)
    for (int i = 0; i < 40; i++)
        work(1);
    // The closing barrier of the outer region is behind those of the inner ones.
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        work(1);
    }
    printf("%d\n", cells[0]);
    omp_destroy_lock(&lock);
    return 0;
}

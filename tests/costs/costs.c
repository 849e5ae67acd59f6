// usage: costs CONSTRUCT COUNT
// Executes one construct COUNT times on a team of one thread.
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sum;

static void one(const char *what, long count)
{
    if (strcmp(what, "event") == 0)
        for (long i = 0; i < count; i++)
            instr_event(1, (unsigned long)i);
    else if (strcmp(what, "region") == 0)
        for (long i = 0; i < count; i++) {
            instr_region_begin("part");
            instr_region_end();
        }
    else if (strcmp(what, "counter") == 0)
        for (long i = 0; i < count; i++)
            instr_counter("items", i);
    else if (strcmp(what, "parallel") == 0)
        for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(1)
            sum++;
        }
    else if (strcmp(what, "loop") == 0) {
#pragma omp parallel num_threads(1)
        for (long i = 0; i < count; i++) {
#pragma omp for schedule(dynamic)
            for (int j = 0; j < 1; j++)
                sum++;
        }
    } else if (strcmp(what, "critical") == 0) {
        for (long i = 0; i < count; i++) {
#pragma omp critical(one)
            sum++;
        }
    } else if (strcmp(what, "task") == 0) {
#pragma omp parallel num_threads(1)
        for (long i = 0; i < count; i++) {
#pragma omp task shared(sum)
            sum++;
        }
    } else if (strcmp(what, "depend") == 0) {
#pragma omp parallel num_threads(1)
        for (long i = 0; i < count; i++) {
#pragma omp task shared(sum) depend(inout : sum)
            sum++;
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    one(argv[1], atol(argv[2]));
    printf("%d\n", sum);
    return 0;
}

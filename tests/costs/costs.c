// usage: costs CONSTRUCT COUNT [stack]
// Executes one construct COUNT times on a team of one thread. With `stack`, a thread of its own does, and says how many bytes of its stack
// were used below the caller of the construct.
#include <instr/instr.h>
#include <pthread.h>
#include <stdint.h>
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
    } else if (strcmp(what, "combined") == 0) {
        for (long i = 0; i < count; i++) {
#pragma omp parallel for schedule(dynamic) num_threads(1)
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
    } else if (strcmp(what, "undeferred") == 0) {
#pragma omp parallel num_threads(1)
        for (long i = 0; i < count; i++) {
#pragma omp task shared(sum) if(0)
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

enum { PAINTED = 32768, PAINT = 0xa5, OWN_FRAME = 192 };

/* The stack below this function's frame, which it shares with its caller's next call. */
__attribute__((noinline)) static long below(int paint)
{
    volatile unsigned char *const high = (unsigned char *)__builtin_frame_address(0) - OWN_FRAME;
    volatile unsigned char *const low = high - PAINTED;
    if (paint)
        for (volatile unsigned char *at = low; at < high; at++)
            *at = PAINT;
    volatile unsigned char *at = low;
    while (at < high && *at == PAINT)
        at++;
    return at < high ? high - at + OWN_FRAME : 0;
}

static char **arguments;

static void *measure(void *result)
{
    below(1);
    one(arguments[1], atol(arguments[2]));
    *(long *)result = below(0);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    arguments = argv;
    if (argc > 3) {
        pthread_t thread;
        long bytes = 0;
        if (pthread_create(&thread, NULL, measure, &bytes) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
        printf("%ld bytes of stack\n", bytes);
        return 0;
    }
    one(argv[1], atol(argv[2]));
    printf("%d\n", sum);
    return 0;
}

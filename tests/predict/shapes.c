/*
 * The shapes of well-known task programs, with work of a known processor time: what others do on the machine changes how long a run takes, not
 * what its threads work.
 *
 *   shapes fib | queens | sort | strassen | alignment | health | wavefront | locks
 *
 * LEAF: microseconds of a leaf's work. Runs take some tenths of a second: threads may need milliseconds to begin, which a run with one thread does not show.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef LEAF
#define LEAF 400
#endif

/* Works for so many microseconds. */
static void work(long us)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    long end = time.tv_sec * 1000000000 + time.tv_nsec + us * 1000;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    while (time.tv_sec * 1000000000 + time.tv_nsec < end);
}

static void leaf(void)
{
#pragma omp task
    work(LEAF);
}

/* Two calls of smaller numbers, and a wait. */
static void fib(int n)
{
    if (n < 2) {
        work(LEAF);
        return;
    }
#pragma omp task
    fib(n - 1);
#pragma omp task
    fib(n - 2);
#pragma omp taskwait
}

/* Many children of different size. */
static void queens(int rows)
{
    if (rows == 0)
        return;
    for (int column = 0; column < 4; column++) {
#pragma omp task firstprivate(column)
        {
            work(LEAF / 4 * (column + 1));
            if (column % 2 == 0)
                queens(rows - 1);
        }
    }
#pragma omp taskwait
}

/* Halves, then a merge that is longer the more it has. */
static void sort(int elements)
{
    if (elements == 1) {
        work(LEAF);
        return;
    }
#pragma omp task
    sort(elements / 2);
#pragma omp task
    sort(elements - elements / 2);
#pragma omp taskwait
    work(LEAF / 4 * elements);
}

/*
 * Sums, seven products of different length, sums. (Were they of one length, threads would be ready at the same time again and again, and which one
 * is first decides how long the run takes: by a tenth.)
 */
static void strassen(int depth, int number)
{
    work(LEAF / 8 * (5 + number % 7));
    if (depth == 0)
        return;
    for (int product = 0; product < 7; product++)
#pragma omp task
        strassen(depth - 1, product);
#pragma omp taskwait
    work(LEAF / 2);
}

/* Pairs of sequences of different length: all threads share a loop that creates tasks. */
static void alignment(void)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 48; i++)
            for (int j = i + 1; j < 48; j += 4)
#pragma omp task firstprivate(i, j)
                work(LEAF / 8 * (1 + (i + j) % 8));
    }
}

/* Villages with a hospital that one enters at a time. */
static void health(int depth)
{
    if (depth > 0) {
        for (int village = 0; village < 4; village++)
#pragma omp task
            health(depth - 1);
    }
    work(LEAF / 2);
#pragma omp critical(hospital)
    work(LEAF / 20);
#pragma omp taskwait
}

static void wavefront(void)
{
    enum { SIDE = 14 };
    static char cells[SIDE + 1][SIDE + 1];
    for (int row = 1; row <= SIDE; row++)
        for (int column = 1; column <= SIDE; column++)
#pragma omp task depend(in : cells[row - 1][column], cells[row][column - 1]) depend(out : cells[row][column])
            work(LEAF);
}

static void locks(void)
{
#pragma omp parallel
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 200; i++) {
        work(LEAF / 4);
#pragma omp critical(shared)
        work(LEAF);
    }
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    work(2000);
    if (strcmp(kind, "alignment") == 0) {
        alignment();
        return 0;
    }
    if (strcmp(kind, "locks") == 0) {
        locks();
        return 0;
    }
#pragma omp parallel
#pragma omp single
    {
        if (strcmp(kind, "fib") == 0)
            fib(13);
        else if (strcmp(kind, "queens") == 0)
            queens(8);
        else if (strcmp(kind, "sort") == 0)
            sort(256);
        else if (strcmp(kind, "strassen") == 0)
            strassen(3, 0);
        else if (strcmp(kind, "health") == 0)
            health(5);
        else if (strcmp(kind, "wavefront") == 0)
            wavefront();
        else
            for (int i = 0; i < 800; i++)
                leaf();
    }
    return 0;
}

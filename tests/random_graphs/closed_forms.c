/*
 * Task graphs whose numbers are known in closed form, written with directives as a user writes them.
 *
 *     closed_forms chain|forkjoin|wavefront|cholesky|lu|divide N
 *
 * tests/tests/closed_forms.rs holds the formulas.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static char tile[MOST][MOST], grid[MOST + 1][MOST + 1];
static unsigned long total;

static void work(void)
{
    unsigned long sum = 0;

    for (volatile unsigned i = 0; i < 200; i++)
        sum += i;
#pragma omp atomic
    total += sum;
}

/* n tasks, each after the one before. */
static void chain(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp task depend(inout : tile[0][0])
        work();
    }
}

/* One task, n that read what it wrote, one that writes it again. */
static void fork_join(int n)
{
#pragma omp task depend(out : tile[0][0])
    work();
    for (int i = 0; i < n; i++) {
#pragma omp task depend(in : tile[0][0])
        work();
    }
#pragma omp task depend(inout : tile[0][0])
    work();
}

/* Each tile after its upper and its left neighbour; the border has storage of its own. */
static void wavefront(int n)
{
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= n; j++) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1]) depend(out : grid[i][j])
            work();
        }
    }
}

/* Right-looking tiled Cholesky factorization: potrf, trsm, syrk and gemm. */
static void cholesky(int n)
{
    for (int k = 0; k < n; k++) {
#pragma omp task depend(inout : tile[k][k])
        work();
        for (int i = k + 1; i < n; i++) {
#pragma omp task depend(in : tile[k][k]) depend(inout : tile[i][k])
            work();
        }
        for (int i = k + 1; i < n; i++) {
            for (int j = k + 1; j < i; j++) {
#pragma omp task depend(in : tile[i][k], tile[j][k]) depend(inout : tile[i][j])
                work();
            }
#pragma omp task depend(in : tile[i][k]) depend(inout : tile[i][i])
            work();
        }
    }
}

/* Right-looking tiled LU factorization without pivoting: getrf, trsm of row and column, gemm. */
static void lu(int n)
{
    for (int k = 0; k < n; k++) {
#pragma omp task depend(inout : tile[k][k])
        work();
        for (int i = k + 1; i < n; i++) {
#pragma omp task depend(in : tile[k][k]) depend(inout : tile[k][i])
            work();
#pragma omp task depend(in : tile[k][k]) depend(inout : tile[i][k])
            work();
        }
        for (int i = k + 1; i < n; i++) {
            for (int j = k + 1; j < n; j++) {
#pragma omp task depend(in : tile[i][k], tile[k][j]) depend(inout : tile[i][j])
                work();
            }
        }
    }
}

/* A tree of tasks: each of depth d > 0 creates two of depth d - 1 and waits for them. */
static void divide(int depth)
{
    if (depth == 0) {
        work();
        return;
    }
    for (int half = 0; half < 2; half++) {
#pragma omp task
        divide(depth - 1);
    }
#pragma omp taskwait
    work();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int);
    } graphs[] = { { "chain", chain },       { "forkjoin", fork_join }, { "wavefront", wavefront },
                   { "cholesky", cholesky }, { "lu", lu },              { "divide", divide } };
    int n = argc == 3 ? atoi(argv[2]) : 0;

    for (size_t i = 0; argc == 3 && i < sizeof graphs / sizeof *graphs; i++) {
        if (strcmp(argv[1], graphs[i].name) != 0 || n < 1 || n > MOST)
            continue;
#pragma omp parallel
#pragma omp single
        graphs[i].run(n);
        return 0;
    }
    fprintf(stderr, "usage: closed_forms GRAPH N\n");
    return 2;
}

/* Block-sparse LU with tasks: one thread creates them all, `depend` clauses put them in order. */
#include "kernels.h"
#include "program.h"

/* One step of the factorization. Blocks that fill in are allocated here, by the creating thread, before the
 * task that needs them: the address of a block is what the tasks depend on. */
static void create_step(struct matrix *matrix, int k)
{
    int blocks = matrix->blocks, size = matrix->size;
    double *diagonal = matrix_at(matrix, k, k);

#pragma omp task depend(inout : diagonal[0]) firstprivate(size, diagonal)
    lu0(size, diagonal);

    for (int column = k + 1; column < blocks; column++) {
        double *right = matrix_at(matrix, k, column);
        if (right == NULL)
            continue;
#pragma omp task depend(in : diagonal[0]) depend(inout : right[0]) firstprivate(size, diagonal, right)
        fwd(size, diagonal, right);
    }

    for (int row = k + 1; row < blocks; row++) {
        double *below = matrix_at(matrix, row, k);
        if (below == NULL)
            continue;
#pragma omp task depend(in : diagonal[0]) depend(inout : below[0]) firstprivate(size, diagonal, below)
        bdiv(size, diagonal, below);
    }

    for (int row = k + 1; row < blocks; row++) {
        for (int column = k + 1; column < blocks; column++) {
            double *left = matrix_at(matrix, row, k);
            double *above = matrix_at(matrix, k, column);
            if (left == NULL || above == NULL)
                continue;
            double *inner = matrix_fill(matrix, row, column);
#pragma omp task depend(in : left[0], above[0]) depend(inout : inner[0]) firstprivate(size, left, above, inner)
            bmod(size, left, above, inner);
        }
    }
}

static void factorize_with_tasks(struct matrix *matrix)
{
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < matrix->blocks; k++)
        create_step(matrix, k);
}

int main(int argc, char **argv)
{
    return sparselu_main(argc, argv, factorize_with_tasks);
}

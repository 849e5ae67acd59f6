/* Block-sparse LU with work-sharing loops: one parallel region, three dynamic loops in each step. */
#include "kernels.h"
#include "program.h"

static void update_row(struct matrix *matrix, int k, int row)
{
    const double *left = matrix_at(matrix, row, k);
    for (int column = k + 1; left != NULL && column < matrix->blocks; column++) {
        const double *above = matrix_at(matrix, k, column);
        if (above != NULL)
            bmod(matrix->size, left, above, matrix_fill(matrix, row, column));
    }
}

static void factorize_with_loops(struct matrix *matrix)
{
    int blocks = matrix->blocks, size = matrix->size;
#pragma omp parallel
    for (int k = 0; k < blocks; k++) {
#pragma omp single
        lu0(size, matrix_at(matrix, k, k));

#pragma omp for schedule(dynamic) nowait
        for (int column = k + 1; column < blocks; column++)
            if (matrix_at(matrix, k, column) != NULL)
                fwd(size, matrix_at(matrix, k, k), matrix_at(matrix, k, column));

#pragma omp for schedule(dynamic)
        for (int row = k + 1; row < blocks; row++)
            if (matrix_at(matrix, row, k) != NULL)
                bdiv(size, matrix_at(matrix, k, k), matrix_at(matrix, row, k));

#pragma omp for schedule(dynamic)
        for (int row = k + 1; row < blocks; row++)
            update_row(matrix, k, row);
    }
}

int main(int argc, char **argv)
{
    return sparselu_main(argc, argv, factorize_with_loops);
}

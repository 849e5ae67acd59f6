/* A square matrix of square blocks, many of which do not exist (are zero). */
#ifndef SPARSELU_MATRIX_H
#define SPARSELU_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

struct matrix {
    int blocks;      /* blocks per dimension */
    int size;        /* rows and columns of one block */
    double **block;  /* blocks * blocks pointers, row-major; NULL = a block of zeroes */
};

/* Does block (row, column) exist before the factorization? The pattern of the sparselu program of the
 * Barcelona OpenMP Tasks Suite: the three middle diagonals, and a grid that thins out away from them. */
bool matrix_pattern(int row, int column);

/* A new matrix with that pattern and reproducible values, diagonally dominant, so that no pivoting is needed.
 * Ends the program with a message when memory runs out; so does matrix_fill. */
struct matrix matrix_generate(int blocks, int size);
void matrix_free(struct matrix *matrix);

static inline double *matrix_at(const struct matrix *matrix, int row, int column)
{
    return matrix->block[(long)row * matrix->blocks + column];
}

/* Block (row, column), created with zeroes if it did not exist (fill-in). */
double *matrix_fill(struct matrix *matrix, int row, int column);

/* Sum over all elements in a fixed order. */
double matrix_checksum(const struct matrix *matrix);

/* Largest |L * U - A| over all elements, relative to the largest |A|. */
double matrix_residual(const struct matrix *factors, const struct matrix *original);

#endif

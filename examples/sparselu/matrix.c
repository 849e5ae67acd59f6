#include "matrix.h"

#include "kernels.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (memory == NULL) {
        fprintf(stderr, "sparselu: error: cannot allocate %zu bytes: out of memory\n", count * bytes);
        exit(1);
    }
    return memory;
}

static size_t block_elements(const struct matrix *matrix)
{
    return (size_t)matrix->size * (size_t)matrix->size;
}

bool matrix_pattern(int row, int column)
{
    if (row == column || row == column - 1 || row - 1 == column)
        return true;
    if (row % 2 == 1 || column % 2 == 1)
        return false;
    return row < column ? row % 3 == 0 : column % 3 == 0;
}

/* Values in [-2, 2) from a generator seeded with the block's place. */
static void generate_block(const struct matrix *matrix, int row, int column, double *block)
{
    uint32_t state = 1325u + 7919u * (uint32_t)row + 104729u * (uint32_t)column;
    for (size_t i = 0; i < block_elements(matrix); i++) {
        state = (3125u * state + 1u) % 65536u;
        block[i] = ((double)state - 32768.0) / 16384.0;
    }
    if (row == column)
        for (size_t i = 0; i < (size_t)matrix->size; i++)
            block[i * (size_t)matrix->size + i] += 2.0 * matrix->blocks * matrix->size;
}

struct matrix matrix_generate(int blocks, int size)
{
    struct matrix matrix = {blocks, size, allocate((size_t)blocks * (size_t)blocks, sizeof(double *))};
    for (int row = 0; row < blocks; row++)
        for (int column = 0; column < blocks; column++)
            if (matrix_pattern(row, column))
                generate_block(&matrix, row, column, matrix_fill(&matrix, row, column));
    return matrix;
}

void matrix_free(struct matrix *matrix)
{
    for (long i = 0; i < (long)matrix->blocks * matrix->blocks; i++)
        free(matrix->block[i]);
    free(matrix->block);
    matrix->block = NULL;
}

double *matrix_fill(struct matrix *matrix, int row, int column)
{
    double **place = &matrix->block[(long)row * matrix->blocks + column];
    if (*place == NULL)
        *place = allocate(block_elements(matrix), sizeof(double));
    return *place;
}

double matrix_checksum(const struct matrix *matrix)
{
    double sum = 0.0;
    for (long i = 0; i < (long)matrix->blocks * matrix->blocks; i++)
        for (size_t j = 0; matrix->block[i] != NULL && j < block_elements(matrix); j++)
            sum += matrix->block[i][j];
    return sum;
}

/* The unit lower (or the upper) triangle of a factorized diagonal block, zeroes elsewhere. */
static void triangle(int size, const double *block, bool lower, double *out)
{
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            double inside = (lower ? j < i : j >= i) ? block[i * size + j] : 0.0;
            out[i * size + j] = lower && i == j ? 1.0 : inside;
        }
    }
}

/* `difference` = A(row, column) - sum over k of L(row, k) * U(k, column). */
static void subtract_product(const struct matrix *factors, int row, int column, double *scratch, double *difference)
{
    int last = row < column ? row : column;
    for (int k = 0; k <= last; k++) {
        const double *left = matrix_at(factors, row, k);
        const double *above = matrix_at(factors, k, column);
        if (left == NULL || above == NULL)
            continue;
        double *lower = scratch, *upper = scratch + block_elements(factors);
        if (k == row) {
            triangle(factors->size, left, true, lower);
            left = lower;
        }
        if (k == column) {
            triangle(factors->size, above, false, upper);
            above = upper;
        }
        bmod(factors->size, left, above, difference);
    }
}

double matrix_residual(const struct matrix *factors, const struct matrix *original)
{
    size_t elements = block_elements(factors);
    double *scratch = allocate(3 * elements, sizeof(double));
    double *difference = scratch + 2 * elements;
    double largest = 0.0, worst = 0.0;
    for (int row = 0; row < factors->blocks; row++) {
        for (int column = 0; column < factors->blocks; column++) {
            const double *block = matrix_at(original, row, column);
            memset(difference, 0, elements * sizeof(double));
            for (size_t i = 0; block != NULL && i < elements; i++) {
                difference[i] = block[i];
                largest = fmax(largest, fabs(block[i]));
            }
            subtract_product(factors, row, column, scratch, difference);
            for (size_t i = 0; i < elements; i++) /* not fmax, which would hide a NaN */
                if (!(fabs(difference[i]) <= worst))
                    worst = fabs(difference[i]);
        }
    }
    free(scratch);
    return worst / largest;
}

/* The four block operations of a block LU factorization without pivoting. Blocks are square, row-major. */
#ifndef SPARSELU_KERNELS_H
#define SPARSELU_KERNELS_H

/* Factorizes the diagonal block in place: unit lower triangle L, upper triangle U. */
void lu0(int size, double *diagonal);
/* A block right of the diagonal becomes a block of U: solves L * X = block. */
void fwd(int size, const double *diagonal, double *block);
/* A block below the diagonal becomes a block of L: solves X * U = block. */
void bdiv(int size, const double *diagonal, double *block);
/* Updates an inner block: inner -= left * above. */
void bmod(int size, const double *left, const double *above, double *inner);

#endif

#include "kernels.h"

#include <stddef.h>

void lu0(int size, double *diagonal)
{
    size_t n = (size_t)size;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            double factor = diagonal[i * n + k] / diagonal[k * n + k];
            diagonal[i * n + k] = factor;
            for (size_t j = k + 1; j < n; j++)
                diagonal[i * n + j] -= factor * diagonal[k * n + j];
        }
    }
}

void fwd(int size, const double *restrict diagonal, double *restrict block)
{
    size_t n = (size_t)size;
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = 0; j < n; j++)
                block[i * n + j] -= diagonal[i * n + k] * block[k * n + j];
}

void bdiv(int size, const double *restrict diagonal, double *restrict block)
{
    size_t n = (size_t)size;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            double factor = block[i * n + k] / diagonal[k * n + k];
            block[i * n + k] = factor;
            for (size_t j = k + 1; j < n; j++)
                block[i * n + j] -= factor * diagonal[k * n + j];
        }
    }
}

void bmod(int size, const double *restrict left, const double *restrict above, double *restrict inner)
{
    size_t n = (size_t)size;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                inner[i * n + j] -= left[i * n + k] * above[k * n + j];
}

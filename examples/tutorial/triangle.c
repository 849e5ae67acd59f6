/* Sums over a triangle: row i has i elements, so later rows take longer. */
#include <math.h>
#include <stdio.h>

enum { ROWS = 6000 };

static double row(int i)
{
    double sum = 0;
    for (int j = 1; j <= i; j++)
        sum += sqrt((double)i * j) / (i + j);
    return sum;
}

int main(void)
{
    double total = 0;
    for (int step = 0; step < 6; step++) {
#pragma omp parallel for schedule(static) reduction(+ : total)
        for (int i = 1; i <= ROWS; i++)
            total += row(i);
    }
    printf("%.6e\n", total);
    return 0;
}

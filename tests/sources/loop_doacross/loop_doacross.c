// Doacross loop: a static schedule without a chunk size gives each of 3 threads one chunk; waits are calls with a variable number of
// arguments and must get through unchanged.
//# Also: aarch64-linux riscv64-linux
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[*].count = 2
//# Events: loop_begin = 3 + 3
//# Events: work_end = 3 + 3
#include <stdio.h>

enum { ROWS = 12, COLUMNS = 9 };
static long grid[ROWS + 1][COLUMNS + 1];
static long line[100];

int main(void)
{
    for (int i = 0; i <= ROWS; i++)
        grid[i][0] = 1;
    for (int j = 0; j <= COLUMNS; j++)
        grid[0][j] = 1;
#pragma omp parallel for ordered(2)
    for (int i = 1; i <= ROWS; i++) {
        for (int j = 1; j <= COLUMNS; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            grid[i][j] = grid[i - 1][j] + grid[i][j - 1];
#pragma omp ordered depend(source)
        }
    }
    line[0] = 1;
#pragma omp parallel for ordered(1) schedule(dynamic, 10)
    for (int i = 1; i < 100; i++) {
#pragma omp ordered depend(sink : i - 1)
        line[i] = line[i - 1] + i;
#pragma omp ordered depend(source)
    }
    printf("%ld %ld\n", grid[ROWS][COLUMNS], line[99]);
    return 0;
}

// Doacross loops of 1 to 4 dimensions, one sink an iteration: (i-1, j, …); unsigned 64-bit; dynamic.
// Posts: all iterations. Waits: all but those whose sink lies outside the loop, the first i.
//   12: 12, 11   6x5: 30, 25   4x3x2: 24, 18   3x2x2x2: 24, 16   10 (unsigned): 10, 9   12 (dynamic,2): 12, 11
// A static schedule without chunk size gives each of 3 threads one chunk; 12 in chunks of 2 are 6.
//# Construct: loop, doacross
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Unseen@libomp: libomp reports that an iteration is waited for, not for how long
//# Events: loop_begin = 6*3
//# Events: work_end = 6*3
//# Events: doacross{kind=1} = 12 + 30 + 24 + 24 + 10 + 12
//# Events: doacross{kind=2} = 11 + 25 + 18 + 16 + 9 + 11
//# Events: doacross{kind=1,count=1} = 12 + 10 + 12
//# Events: doacross{kind=2,count=4} = 16
//# Events@libgomp: sync_begin{kind=8} = 11 + 25 + 18 + 16 + 9 + 11
//# Events@libgomp: chunk_begin = 5*3 + 6
//# Events@libgomp: loop_begin{schedule&4096=4096} = 6*3
#include <stdio.h>

static int a[13], b[7][5], c[5][3][2], d[4][2][2][2], e[11], f[13];

int main(void)
{
#pragma omp parallel for ordered(1) schedule(static)
    for (int i = 1; i < 13; i++) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
    }
#pragma omp parallel for ordered(2) schedule(static)
    for (int i = 1; i < 7; i++)
        for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j)
            b[i][j] = b[i - 1][j] + 1;
#pragma omp ordered depend(source)
        }
#pragma omp parallel for ordered(3) schedule(static)
    for (int i = 1; i < 5; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++) {
#pragma omp ordered depend(sink : i - 1, j, k)
                c[i][j][k] = c[i - 1][j][k] + 1;
#pragma omp ordered depend(source)
            }
#pragma omp parallel for ordered(4) schedule(static)
    for (int i = 1; i < 4; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++)
                for (int l = 0; l < 2; l++) {
#pragma omp ordered depend(sink : i - 1, j, k, l)
                    d[i][j][k][l] = d[i - 1][j][k][l] + 1;
#pragma omp ordered depend(source)
                }
#pragma omp parallel for ordered(1) schedule(static)
    for (unsigned long long i = 1; i < 11; i++) {
#pragma omp ordered depend(sink : i - 1)
        e[i] = e[i - 1] + 1;
#pragma omp ordered depend(source)
    }
#pragma omp parallel for ordered(1) schedule(dynamic, 2)
    for (int i = 1; i < 13; i++) {
#pragma omp ordered depend(sink : i - 1)
        f[i] = f[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    printf("%d %d %d %d %d %d\n", a[12], b[6][4], c[4][2][1], d[3][1][1][1], e[10], f[12]);
    return !(a[12] == 12 && b[6][4] == 6 && c[4][2][1] == 4 && d[3][1][1][1] == 3 && e[10] == 10 && f[12] == 12);
}

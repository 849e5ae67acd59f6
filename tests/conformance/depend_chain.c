// A chain of 50 inout tasks: 49 edges; a wavefront of 6 x 6: each block follows its upper and left neighbours, 2*6*5 = 60 edges.
// Block (i,j) writes itself (inout) and reads two others: every writer is the only writer, so reading adds one edge each and nothing more.
//# Construct: depend(in, out, inout)
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 50 + 36
//# Events: task_begin = 50 + 36
//# Edges: 49 + 60
#include <stdio.h>

enum { N = 6 };
static int chain, block[N + 1][N + 1];

int main(void)
{
    for (int i = 0; i <= N; i++)
        block[i][0] = block[0][i] = 1;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 50; i++) {
#pragma omp task depend(inout : chain) firstprivate(i)
            chain = (chain * 3 + i) % 10007;
        }
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++) {
#pragma omp task depend(in : block[i - 1][j], block[i][j - 1]) depend(inout : block[i][j]) firstprivate(i, j)
                block[i][j] = block[i - 1][j] + block[i][j - 1];
            }
    }
    printf("%d %d\n", chain, block[N][N]);
    return block[N][N] != 924;
}

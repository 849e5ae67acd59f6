// Scans: libgomp's GOMP_loop_start serves for scratch memory alone there and must not show as a loop with chunks.
//# Construct: reduction(inscan)
//# Unseen@clang: clang compiles a scan to two static loops with a masked block between them
//# Unseen@gcc: GCC compiles scans inline, in static loops
//# SkipCompiler: gcc-libomp libomp's layer for GCC refuses scans
//# Events: parallel_begin = 1
//# Events@libgomp: loop_begin = 0
//# Events@libgomp: chunk_begin = 0
#include <stdio.h>

int main(void)
{
    int sum = 0, prefix[64], bad = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < 64; i++) {
        sum += i;
#pragma omp scan inclusive(sum)
        prefix[i] = sum;
    }
    for (int i = 0; i < 64; i++)
        bad += prefix[i] != i * (i + 1) / 2;
    printf("%d %d\n", sum, bad);
    return bad;
}

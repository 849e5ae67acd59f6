// for simd and parallel for simd: the loop is worked out as without simd; simd alone and declare simd leave nothing.
// 96 dynamic in chunks of 16: 6.
//# Construct: loop, simd
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
//# Events: parallel_begin = 2
//# Events@gcc: static_loop = 3
//# Events@libgomp: loop_begin = 3
//# Events@libgomp: chunk_begin = 6
//# Events@clang: loop_begin = 2*3
#include <stdio.h>

static float a[96], b[96];

#pragma omp declare simd
static float twice(float x)
{
    return 2 * x;
}

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 96;
    int bad = 0;
#pragma omp simd
    for (int i = 0; i < n; i++)
        a[i] = (float)i;
#pragma omp parallel for simd schedule(simd : static)
    for (int i = 0; i < n; i++)
        b[i] = twice(a[i]);
#pragma omp parallel
    {
#pragma omp for simd schedule(dynamic, 16)
        for (int i = 0; i < n; i++)
            b[i] += 1;
    }
    for (int i = 0; i < n; i++)
        bad += b[i] != 2 * (float)i + 1;
    printf("%d\n", bad);
    return bad;
}

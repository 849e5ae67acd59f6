// Iteration variables of unsigned 64 bits beyond the signed range: upwards 50 in chunks of 8: 7; downwards 50 in steps of 5, chunks of 3 steps: 4.
//# Construct: loop, unsigned 64 bits
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# SkipCompiler: gcc-libomp libomp 14 gives GCC's downward unsigned loop a wrong share of its iterations, also without us
//# Events: loop_begin = 2*3
//# Events: work_end = 2*3
//# Events@libgomp: chunk_begin = 7 + 4
//# Events@libgomp: loop_begin{schedule&2048=2048} = 2*3
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    const unsigned long long low = 0x8000000000000000ULL, n = 50ULL * (unsigned)argc;
    unsigned long long sum = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : sum)
    for (unsigned long long i = low; i < low + n; i++)
        sum += i - low;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
    for (unsigned long long i = low + n; i > low; i -= 5)
        sum += i - low;
    printf("%llu\n", sum);
    return sum != 1225 + 275;
}

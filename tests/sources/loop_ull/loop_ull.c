// Unsigned 64-bit loops beyond the range of long, upwards and downwards.
//# Also: aarch64-linux riscv64-linux
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_SCHEDULE=dynamic,11
//# Events: loop_begin = 3*4
//# Events: chunk_begin = 15 + 20 + 11 + 10
//# Events: dispatch = 15 + 20 + 11 + 10
//# Events: work_end = 3*4
#include <stdio.h>

typedef unsigned long long ull;
static const ull base = 0x8000000000000000ULL;

static ull up(ull n, int chunk)
{
    ull sum = 0;
#pragma omp parallel for schedule(dynamic, chunk) reduction(+ : sum)
    for (ull i = base; i < base + n; i++)
        sum += i - base;
    return sum;
}

static ull down(ull n)
{
    ull sum = 0;
#pragma omp parallel for schedule(dynamic, 5) reduction(+ : sum)
    for (ull i = base + n; i > base; i--)
        sum += i - base;
    return sum;
}

static ull guided(ull n)
{
    ull sum = 0;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
    for (ull i = base; i < base + n; i++)
        sum += i - base;
    return sum;
}

static ull runtime(ull n)
{
    ull sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (ull i = base; i < base + n; i++)
        sum += i - base;
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    ull n = 99 + (ull)argc;
    printf("%llu %llu %llu %llu\n", up(n, 6 + argc), down(n), guided(n), runtime(n));
    return 0;
}

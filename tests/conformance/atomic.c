// atomic: an instruction where the type has one, else GCC brackets it by the atomic lock: long double everywhere (3*10), on SPARC V8 the 32-bit integer
// (3*7, an update) too and the 64-bit read, write and capture (3*4 each). clang calls libatomic for long double: not seen.
//# Construct: atomic
//# Flags@clang: -latomic
//# Events: parallel_begin = 1
//# Events@x86_64-linux,gcc,gcc-libomp: mutex_acquired{kind=3} = 3*10
//# Events@sparc64-linux: mutex_acquired{kind=3} = 3*10
//# Events@sparc-linux: mutex_acquired{kind=3} = 3*10 + 3*7 + 3*4
//# Events@clang: mutex_acquired{kind=3} = 0
//# Events: mutex_failed = 0
#include <stdio.h>

int main(void)
{
    int count = 0;
    long long wide = 0, seen = 0;
    long double big = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 10; i++) {
#pragma omp atomic
            big += 1;
        }
        for (int i = 0; i < 7; i++) {
#pragma omp atomic
            count++;
        }
        for (int i = 0; i < 4; i++) {
            long long now;
#pragma omp atomic capture
            now = ++wide;
            if (now == 12)
                seen = now;
        }
    }
    printf("%d %lld %lld %d\n", count, wide, seen, (int)big);
    return !(count == 21 && wide == 12 && seen == 12 && big == 30);
}

// error at(execution) with severity(warning): GCC calls GOMP_warning, which prints; the program's own output stays its own.
//# Construct: error directive
//# SkipCompiler: clang clang 14 does not support the directive
//# SkipCompiler: gcc-libomp libomp 14 has no GOMP_warning
//# Events: parallel_begin = 1
#include <stdio.h>

int main(void)
{
    int count = 0;
#pragma omp error at(execution) severity(warning) message("just so you know")
#pragma omp parallel
    {
#pragma omp atomic
        count++;
    }
    printf("%d\n", count);
    return count != 3;
}

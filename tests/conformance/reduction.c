// Plain reductions. One integer is combined by an atomic instruction, where the processor has one; more than one item under libgomp's atomic lock,
// once for each thread. SPARC V8 has no such instructions: the lock there too.
//# Construct: reduction
//# Unseen@clang: clang combines by atomic instructions, or by a barrier with the reduction inside
//# Unseen@gcc,gcc-libomp: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Events: parallel_begin = 2
//# Events@x86_64-linux,gcc,gcc-libomp: mutex_acquired{kind=3} = 3
//# Events@sparc64-linux: mutex_acquired{kind=3} = 3
//# Events@sparc-linux: mutex_acquired{kind=3} = 3 + 3
//# Events@clang: loop_begin = 2*3
#include <stdio.h>

int main(void)
{
    int sum = 0, most = 0;
    double half = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 30; i++)
        sum += i;
#pragma omp parallel for reduction(+ : half) reduction(max : most)
    for (int i = 0; i < 30; i++) {
        half += 0.5;
        most = i > most ? i : most;
    }
    printf("%d %d %g\n", sum, most, half);
    return !(sum == 435 && most == 29 && half == 15);
}

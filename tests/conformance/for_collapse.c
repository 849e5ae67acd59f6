// collapse: the iterations of the nest are those of one loop. 6 x 5 = 30 in chunks of 4: 8; 4 x 3 x 2 = 24 in chunks of 5: 5.
//# Construct: loop, collapse
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Events: loop_begin = 2*3
//# Events: work_end = 2*3
//# Events@libgomp: chunk_begin = 8 + 5
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 6;
    int sum = 0;
#pragma omp parallel for collapse(2) schedule(dynamic, 4) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n - 1; j++)
            sum += i * j;
#pragma omp parallel for collapse(3) schedule(dynamic, 5) reduction(+ : sum)
    for (int i = 0; i < n - 2; i++)
        for (int j = 0; j < n - 3; j++)
            for (int k = 0; k < n - 4; k++)
                sum += 1;
    printf("%d\n", sum);
    return sum != 15 * 10 + 24;
}

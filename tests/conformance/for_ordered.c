// ordered: every iteration holds the ordered lock once. Dynamic chunks of 4 out of 24: 6.
//# Construct: loop, ordered
//# Events: loop_begin = 2*3
//# Events: work_end = 2*3
//# Events: mutex_acquire{kind=4} = 2*24
//# Events: mutex_acquired{kind=4} = 2*24
//# Events: mutex_released{kind=4} = 2*24
//# Events: mutex_acquire = 2*24
//# Events@libgomp: loop_begin{schedule&256=256} = 2*3
#include <stdio.h>

static int order[48];

int main(int argc, char **argv)
{
    (void)argv;
    const int n = argc * 24;
    int next = 0, bad = 0;
#pragma omp parallel for ordered schedule(dynamic, 4)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        order[next++] = i;
    }
#pragma omp parallel for ordered schedule(static)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        order[next++] = i;
    }
    for (int i = 0; i < 48; i++)
        bad += order[i] != i % 24;
    printf("%d %d\n", next, bad);
    return bad;
}

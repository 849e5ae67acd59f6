/*
 * `hammer N`: four threads start and stop recording N times each, while each of four others writes N events of type 5 with the values 1 … N. Then
 * recording is started, and one event of type 7 ends it. Whatever fell into a pause is missing, in no other way is anything.
 */
#include <instr/instr.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    int wrong = 0;
#pragma omp parallel for num_threads(8) schedule(static, 1) reduction(+ : wrong)
    for (int thread = 0; thread < 8; thread++)
        for (int i = 1; i <= n; i++)
            if (thread % 2 == 0)
                instr_event(5, (uint64_t)i);
            else
                wrong += instr_stop() != 0 || instr_start(NULL) > 0;
    wrong += instr_start(NULL) != 0;
    instr_event(7, 1);
    wrong += instr_flush() != 0;
    printf("%d\n", wrong);
    return 0;
}

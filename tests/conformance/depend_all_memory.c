// What GCC 13 and later emit for omp_all_memory, called by hand because GCC 12 and clang 14 refuse the clause: an out entry whose address is NULL.
// libgomp 12 takes it for an ordinary address; the edges are those of the clause all the same. (inoutset cannot be shown here: libgomp 12
// ends the program on the depend objects of kind 5 that GCC 13 makes for it. The random task graphs hold it.)
//   1 out x; 2 out y; 3 all memory; 4 in x; 5 in z; 6 all memory and in x; 7 in y
//   1->3 2->3; 3->4 3->5 (z was never named); 4->6 5->6, 3->6 by all other addresses; 6->7
//# Construct: omp_all_memory
//# SkipCompiler: clang clang 14 refuses the clause; what GCC emits is called by hand
//# SkipCompiler: gcc-libomp libomp 14 takes GCC's entry for the address 0
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 7
//# Events: task_begin = 7
//# Entries: task_create{kind=6} = 2
//# Entries: task_create{kind=2} = 2
//# Entries: task_create{kind=1} = 4
//# Edges: 2 + 2 + 3 + 1
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool if_clause,
               unsigned flags, void **depend, int priority, void *detach);

static int x, y, z, order[7], at;

static void body(void *data)
{
#pragma omp critical
    order[at++] = *(int *)data;
}

static void task(int number, void **depend)
{
    GOMP_task(body, &number, NULL, sizeof number, _Alignof(int), true, 8, depend, 0, NULL);
}

static void one(int number, void *address, bool out)
{
    void *depend[] = {(void *)1, (void *)(uintptr_t)out, address};
    task(number, depend);
}

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
        one(1, &x, true);
        one(2, &y, true);
        one(3, NULL, true);
#pragma omp taskwait
        one(4, &x, false);
        one(5, &z, false);
        void *both[] = {(void *)2, (void *)1, NULL, &x};
        task(6, both);
        one(7, &y, false);
    }
    int sum = 0;
    for (int i = 0; i < at; i++)
        sum += order[i];
    printf("%d %d\n", at, sum);
    return !(at == 7 && sum == 28);
}

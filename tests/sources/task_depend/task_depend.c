// Every kind of dependence; edges counted by hand from the OpenMP rules.
//   x: out, in, in, inout                        1->2 1->3 2->4 3->4        4
//   y: out, mutexinoutset twice, in              5->6 5->7 6->8 7->8        4
//   z: inout twice through a depend object       9->10                      1
//   a: four outs at once, one in each, four inouts   11->12..15, 12..15->16  8
//   x again, in and inout of the same task: one  4->17                      1
//   taskwait depend(in: x): an empty task        17->wait                   1
//# Also: aarch64-linux riscv64-linux
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 17
//# Expect: tasks.executed = 17
//# Expect: tasks.edges = 4 + 4 + 1 + 8 + 1 + 1
//# Events: task_create = 17
//# Events: taskwait_depend = 1
//# Events: sync_begin{kind=4} = 1
#include <omp.h>
#include <stdio.h>

static int x, y, z, a[4], wrong;

static void check(int holds)
{
    if (!holds) {
#pragma omp atomic
        wrong++;
    }
}

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(in : x)
        check(x == 1);
#pragma omp task depend(in : x)
        check(x == 1);
#pragma omp task depend(inout : x)
        x = 2;

#pragma omp task depend(out : y)
        y = 10;
#pragma omp task depend(mutexinoutset : y)
        y += 1;
#pragma omp task depend(mutexinoutset : y)
        y += 2;
#pragma omp task depend(in : y)
        check(y == 13);

        omp_depend_t object;
#pragma omp depobj(object) depend(inout : z)
#pragma omp task depend(depobj : object)
        z = 1;
#pragma omp task depend(depobj : object)
        check(z++ == 1);
#pragma omp depobj(object) destroy

#pragma omp task depend(iterator(i = 0 : 4), out : a[i])
        for (int i = 0; i < 4; i++)
            a[i] = i;
        for (int i = 0; i < 4; i++) {
#pragma omp task depend(in : a[i]) firstprivate(i)
            check(a[i] == i);
        }
#pragma omp task depend(iterator(i = 0 : 4), inout : a[i])
        for (int i = 0; i < 4; i++)
            a[i] += 100;

#pragma omp task depend(in : x) depend(inout : x)
        x += 40;
#pragma omp taskwait depend(in : x)
        check(x == 42);
    }
    printf("%d %d %d %d %d wrong %d\n", x, y, z, a[0], a[3], wrong);
    return wrong;
}

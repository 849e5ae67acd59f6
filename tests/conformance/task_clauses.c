// Tasks with every clause that changes how they run, by one thread of 2: 10 plain, 5 with a false if clause, 4 final with an (included) child each,
// 4 untied, 3 mergeable, 2 with priority.
//# Construct: task; if(0); final; untied; mergeable; priority
//# Unseen@libomp: [mergeable; priority] libomp reports untied, final and undeferred tasks, no mergeable and no priority
//# Env: OMP_NUM_THREADS=2
//# Events: task_create = 10 + 5 + 4*2 + 4 + 3 + 2
//# Events: task_created = 10 + 5 + 4*2 + 4 + 3 + 2
//# Events: task_begin = 10 + 5 + 4*2 + 4 + 3 + 2
//# Events: task_end = 10 + 5 + 4*2 + 4 + 3 + 2
//# Events: task_create{flags&1=1} = 4
//# Events@gcc: task_create{flags&2=2} = 4
//# Events@libomp: task_create{flags&2=2} = 4*2
//# Events@gcc: task_create{flags&4=4} = 3
//# Events@gcc: task_create{flags&16=16} = 2
//# Events@gcc: task_create{flags&0x8000=0x8000} = 5
//# Events@libomp: task_create{flags&0x80000=0x80000} = 5 + 4
//# Entries: task_create = 0
//# Edges: 0
//# Redirect
#include <stdio.h>

static int done[6];

static void count(int kind)
{
#pragma omp atomic
    done[kind]++;
}

int main(void)
{
    int off = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 10; i++) {
#pragma omp task
            count(0);
        }
        for (int i = 0; i < 5; i++) {
#pragma omp task if (off)
            count(1);
        }
        for (int i = 0; i < 4; i++) {
#pragma omp task final(1)
            {
                count(2);
#pragma omp task
                count(2);
            }
        }
        for (int i = 0; i < 4; i++) {
#pragma omp task untied
            count(3);
        }
        for (int i = 0; i < 3; i++) {
#pragma omp task mergeable
            count(4);
        }
        for (int i = 0; i < 2; i++) {
#pragma omp task priority(i + 1)
            count(5);
        }
    }
    printf("%d %d %d %d %d %d\n", done[0], done[1], done[2], done[3], done[4], done[5]);
    return !(done[0] == 10 && done[1] == 5 && done[2] == 8 && done[3] == 4 && done[4] == 3 && done[5] == 2);
}

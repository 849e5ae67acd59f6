// Host teams: a league of 3, in each a region of 2 threads. libgomp runs the teams one after the other on the calling thread, libomp on threads of their own;
// the league's initial threads are implicit tasks, as are the 2 threads of each inner region.
//# Construct: host teams
//# Events: parallel_begin{kind&255=3} = 1
//# Events: parallel_begin = 1 + 3
//# Events: implicit_begin = 3 + 3*2
//# Events: implicit_end = 3 + 3*2
//# Env: KMP_TEAMS_THREAD_LIMIT=64
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int threads = 0, teams = 0;
#pragma omp teams num_teams(3) thread_limit(2)
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp atomic
            threads++;
#pragma omp atomic
            teams += omp_get_num_teams();
        }
    }
    printf("%d %d\n", threads, teams);
    return !(threads == 6 && teams == 18);
}

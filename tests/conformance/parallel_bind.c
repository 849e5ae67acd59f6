// proc_bind and the requested number of threads: each region has the threads it asked for. requested is what num_threads said, 0 when nothing did.
//# Construct: proc_bind, num_threads
//# Unseen@libomp: libomp reports the number of threads that a region would get by its settings where num_threads asks for none
//# Events: parallel_begin = 4
//# Events: implicit_begin = 3 + 2 + 2 + 3
//# Events@gcc: parallel_begin{requested=2} = 2
//# Events@gcc: parallel_begin{requested=0} = 2
#include <stdio.h>

int main(void)
{
    int hits = 0;
#pragma omp parallel proc_bind(master)
    {
#pragma omp atomic
        hits++;
    }
#pragma omp parallel proc_bind(close) num_threads(2)
    {
#pragma omp atomic
        hits++;
    }
#pragma omp parallel proc_bind(spread) num_threads(2)
    {
#pragma omp atomic
        hits++;
    }
#pragma omp parallel proc_bind(spread)
    {
#pragma omp atomic
        hits++;
    }
    printf("%d\n", hits);
    return hits != 10;
}

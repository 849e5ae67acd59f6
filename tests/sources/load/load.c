// Load of known size: thread t sleeps (t + 1) * 40 ms in a region, which is user code; all ask for a critical section that its first
// holder keeps until long after the last has asked; chunks of 5; a chain of tasks. The machine may add to times, so margins are wide.
//# Flags: -O1 -fopenmp
//# Env: OMP_NUM_THREADS=4 OMP_DYNAMIC=false
//# Expect: parallel_regions[@work].load.threads = 4
//# Expect: parallel_regions[@work].load.useful_max_ns >= 160000000
//# Expect: parallel_regions[@work].load.useful_mean_ns >= 100000000
//# Expect: parallel_regions[@work].load.useful_min_ns >= 40000000
//# Expect: parallel_regions[@work].load.useful_min_ns <= 110000000
//# Expect: parallel_regions[@work].load.imbalance_loss_ns >= 30000000
//# Expect: parallel_regions[@work].load.barrier_ns >= 100000000
//# Expect: parallel_regions[@work].load.by_thread.len = 4
//# Expect: criticals[meet].count = 4
//# Expect: criticals[meet].contended = 3
//# Expect: criticals[meet].wait_max_ns >= 250000000
//# Expect: criticals[meet].held_max_ns >= 300000000
//# Expect: criticals[alone].count = 4
//# Expect: criticals[alone].contended = 0
//# Expect: loops[*].chunk_iterations.count = 10
//# Expect: loops[*].chunk_iterations.min = 5
//# Expect: loops[*].chunk_iterations.total = 50
//# Expect: loops[*].chunk_times.count = 10
//# Expect: efficiency.threads = 4
//# Expect: efficiency.imbalance_ns >= 120000000
//# Expect: graph.regions = 1
//# Expect: graph.chain_hops = 6
//# Expect: graph.span_hops = 6
//# Expect: graph.width = 1
#include <omp.h>
#include <stdio.h>
#include <time.h>

static void sleep_ms(int ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0) {
    }
}

static int asking, met, alone;

static void meet(void)
{
#pragma omp atomic
    asking++;
#pragma omp critical(meet)
    if (met++ == 0) {
        int others;
        do {
            sleep_ms(1);
#pragma omp atomic read
            others = asking;
        } while (others < 4);
        sleep_ms(300);
    }
}

int main(void)
{
#pragma omp parallel // @work
    sleep_ms((omp_get_thread_num() + 1) * 40);

#pragma omp parallel
    {
        meet();
        for (int turn = 0; turn < 4; turn++) {
#pragma omp barrier
            if (turn == omp_get_thread_num()) {
#pragma omp critical(alone)
                alone++;
            }
        }
    }
    int sum = 0;
#pragma omp parallel for schedule(dynamic, 5) reduction(+ : sum)
    for (int i = 0; i < 50; i++)
        sum += i;

    int chain = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 6; i++) {
#pragma omp task depend(inout : chain) shared(chain)
        chain = 2 * chain + 1;
    }
    printf("met %d alone %d sum %d chain %d\n", met, alone, sum, chain);
    return 0;
}

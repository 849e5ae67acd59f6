/*
 * Every thread of a team faults pages in, sleeps and computes inside a user region, and asks the kernel what it did in there (inner) and around
 * it (outer): what a counter says of the region lies between. One line a thread: TID, then inner and outer page faults, switches, ns of
 * processor time, ns of schedstat, and the ns on the clock around it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct account {
    long faults;
    long switches;
    long long cpu;
    long long run;
    long long clock;
};

static long long ns_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static struct account now(int schedstat)
{
    struct rusage usage;
    char text[96] = "";
    struct account a = {0, 0, 0, 0, 0};
    if (getrusage(RUSAGE_THREAD, &usage) != 0 || pread(schedstat, text, sizeof text - 1, 0) < 0)
        exit(3);
    a.faults = usage.ru_minflt + usage.ru_majflt;
    a.switches = usage.ru_nvcsw + usage.ru_nivcsw;
    a.cpu = ns_of(CLOCK_THREAD_CPUTIME_ID);
    a.run = atoll(text);
    a.clock = ns_of(CLOCK_MONOTONIC);
    return a;
}

static void work(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 300 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(4);
    (void)madvise(memory, 300 * (size_t)page, MADV_NOHUGEPAGE);
    for (int i = 0; i < 300; i++)
        memory[i * page] = 1;
    const struct timespec rest = {0, 200000};
    for (int i = 0; i < 25; i++)
        nanosleep(&rest, NULL);
    const long long until = ns_of(CLOCK_THREAD_CPUTIME_ID) + 20000000;
    while (ns_of(CLOCK_THREAD_CPUTIME_ID) < until)
        ;
    munmap(memory, 300 * (size_t)page);
}

int main(void)
{
#pragma omp parallel num_threads(3)
    {
        const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
        const struct account a = now(schedstat);
        instr_region_begin("work");
        const struct account b = now(schedstat);
        work();
        const struct account c = now(schedstat);
        instr_region_end();
        const struct account d = now(schedstat);
#pragma omp critical
        printf("%ld %ld %ld %ld %ld %lld %lld %lld %lld %lld\n", (long)syscall(SYS_gettid), c.faults - b.faults, d.faults - a.faults,
               c.switches - b.switches, d.switches - a.switches, c.cpu - b.cpu, d.cpu - a.cpu, c.run - b.run, d.run - a.run, d.clock - a.clock);
    }
    return 0;
}

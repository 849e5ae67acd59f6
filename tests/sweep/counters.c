/* Counts that are known. In the region `touch` a thread touches 1000 new pages, in the parallel region in it two threads touch 500 others each; outside of all, 700 are touched. In the region `spin` a thread
 * works for 50 ms of its own processor time. Page faults and processor time of the whole process, as the system accounts them, go into the file `counts`. */
#define _GNU_SOURCE
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define PAGE 4096

static void touch(int pages)
{
    size_t bytes = (size_t)pages * PAGE;
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        abort();
    madvise(block, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += PAGE)
        ((volatile char *)block)[at] = 1;
}

static double processor_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

int main(void)
{
    instr_region_begin("touch");
    touch(1000);
#pragma omp parallel num_threads(2)
    touch(500);
    instr_region_end();
    touch(700);
    instr_region_begin("spin");
    double begin = processor_ms();
    while (processor_ms() < begin + 50)
        ;
    instr_region_end();
    FILE *file = fopen("counts", "w");
    struct rusage usage;
    if (file == NULL || getrusage(RUSAGE_SELF, &usage) != 0)
        return 1;
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    fprintf(file, "%ld %.6f\n", usage.ru_minflt + usage.ru_majflt, seconds);
    return fclose(file);
}

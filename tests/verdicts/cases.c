/* Programs that lose time in one way each. What is printed is the processor time of the process since `main` began, ns, as getrusage(2) counts it. */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static void spin(long rounds)
{
    double sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += (double)i * 1e-9;
    sink = sum;
}

/* Wall-clock time, whoever uses the processors. */
static void work_for(double seconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        spin(100000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
}

static long long used(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (long long)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv)
{
    const long long before = used(); /* of whoever started the program, too */
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "team") == 0) {
        for (int i = 0; i < 10; i++) {
#pragma omp parallel
            spin(8000000);
        }
    } else if (strcmp(name, "sleep") == 0) {
#pragma omp parallel
        for (int i = 0; i < 10; i++) {
            usleep(30000);
            spin(100000);
        }
    } else if (strcmp(name, "sequential") == 0) {
        work_for(0.3);
    } else if (strcmp(name, "imbalance") == 0) {
#pragma omp parallel
        {
            int first = 0;
#pragma omp single nowait
            first = 1;
            work_for(first ? 0.4 : 0.05);
        }
    } else if (strcmp(name, "healthy") == 0) {
#pragma omp parallel
        work_for(0.4);
    } else if (strcmp(name, "serial") == 0) {
        work_for(0.3);
#pragma omp parallel
        work_for(0.1);
    } else if (strcmp(name, "reads") == 0) {
        for (int i = 0; i < 10; i++)
            usleep(40000);
#pragma omp parallel
        work_for(0.05);
    } else if (strcmp(name, "small") == 0) {
#pragma omp parallel
        work_for(0.02);
#pragma omp parallel num_threads(1)
        work_for(0.4);
    } else if (strcmp(name, "try") == 0) {
        omp_lock_t lock;
        omp_init_lock(&lock);
#pragma omp parallel
        for (int i = 0; i < 20; i++) {
            while (!omp_test_lock(&lock)) {
            }
            work_for(0.005);
            omp_unset_lock(&lock);
            work_for(0.00001); /* so that the other one gets it */
        }
        omp_destroy_lock(&lock);
    } else if (strcmp(name, "killed") == 0) {
#pragma omp parallel
        {
            work_for(0.3);
#pragma omp masked
            raise(SIGKILL);
            work_for(5);
        }
    } else if (strcmp(name, "lock") == 0) {
#pragma omp parallel
        for (int i = 0; i < 20; i++) {
#pragma omp critical(ledger)
            work_for(0.01);
        }
    } else if (strcmp(name, "fine") == 0) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 400000; i++) {
#pragma omp task
            sink = i;
        }
    } else if (strcmp(name, "late") == 0) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 40; i++) {
            work_for(0.008);
#pragma omp task
            work_for(0.002);
        }
    } else if (strcmp(name, "chain") == 0) {
        char link = 0;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 40; i++) {
#pragma omp task depend(inout : link)
            work_for(0.008);
        }
        sink = link;
    } else {
        return 1;
    }
    printf("%lld\n", used() - before);
    return 0;
}

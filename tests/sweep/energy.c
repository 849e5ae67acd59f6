/* A machine whose meter is a file: it takes 10 W, and 30 W in the region `hot`, in which two threads are at once. The file is that of the package below $INSTR_SENSORS_ROOT, in microjoules, and begins again at
 * its range. What it grew by goes into the file `joules`. */
#include <fcntl.h>
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RANGE 262143328850.0
#define START 262143000000.0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double watts = 10, joules, last;
static int meter, over;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The meter up to now; from now on the machine takes `next`. */
static void count(double next)
{
    char text[32];
    pthread_mutex_lock(&lock);
    double time = now();
    joules += watts * (time - last);
    last = time;
    if (next > 0)
        watts = next;
    double total = START + 1e6 * joules;
    int bytes = snprintf(text, sizeof text, "%-15.0f\n", total < RANGE ? total : total - RANGE);
    if (pwrite(meter, text, (size_t)bytes, 0) != bytes)
        abort();
    pthread_mutex_unlock(&lock);
}

static void sleep_ms(double ms)
{
    struct timespec time = { 0, (long)(ms * 1e6) };
    nanosleep(&time, NULL);
}

static void *run(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        count(0);
        sleep_ms(0.5);
    }
    return unused;
}

int main(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", getenv("INSTR_SENSORS_ROOT"));
    meter = open(path, O_WRONLY);
    last = now();
    pthread_t thread;
    if (meter < 0 || pthread_create(&thread, NULL, run, NULL) != 0)
        return 1;
    sleep_ms(200);
    for (int i = 0; i < 2; i++) {
        count(30);
        instr_region_begin("hot");
#pragma omp parallel num_threads(2)
        sleep_ms(300);
        instr_region_end();
        count(10);
        sleep_ms(200);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    count(0);
    FILE *file = fopen("joules", "w");
    if (file == NULL)
        return 1;
    fprintf(file, "%.6f\n", joules);
    return fclose(file);
}

/*
 * Whatever could wait for itself when a signal comes at the wrong moment: the heap, the dynamic linker, streams, threads that begin and
 * end, children, signals of the program's own with and without SA_RESTART, an alternate stack. Prints the same each time. Argument: how
 * much of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int amount = 1;
static volatile sig_atomic_t caught[2];
static FILE *nowhere;

static void mine(int signal)
{
    const int error = errno;
    caught[signal == SIGUSR2]++;
    errno = error;
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Blocks of all sizes, some moved, some freed by others' order; returns what was written into them. */
static uint64_t heap(uint32_t seed, int rounds)
{
    enum { KEPT = 64 };
    unsigned char *blocks[KEPT] = {0};
    size_t sizes[KEPT] = {0};
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++) {
        const unsigned at = next(&seed) % KEPT;
        const size_t size = 1 + next(&seed) % (i % 97 == 0 ? 300000 : 600);
        if (blocks[at] != NULL && next(&seed) % 2 == 0) {
            sum += blocks[at][0] + blocks[at][sizes[at] - 1];
            free(blocks[at]);
            blocks[at] = NULL;
            continue;
        }
        unsigned char *const block = realloc(blocks[at], size);
        if (block == NULL)
            exit(3);
        block[0] = (unsigned char)i;
        block[size - 1] = (unsigned char)i;
        blocks[at] = block;
        sizes[at] = size;
    }
    for (unsigned i = 0; i < KEPT; i++)
        free(blocks[i]);
    return sum;
}

static void *short_thread(void *arg)
{
    const uint64_t sum = heap((uint32_t)(uintptr_t)arg, 200);
    return (void *)(uintptr_t)(sum & 0xffff);
}

static uint64_t threads(int rounds)
{
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++) {
        pthread_t id;
        void *result;
        if (pthread_create(&id, NULL, short_thread, (void *)(uintptr_t)i) != 0)
            exit(4);
        pthread_kill(id, i % 2 ? SIGUSR1 : SIGUSR2);
        pthread_join(id, &result);
        sum += (uintptr_t)result;
    }
    return sum;
}

static uint64_t libraries(int rounds)
{
    uint64_t found = 0;
    for (int i = 0; i < rounds; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            continue;
        found += dlsym(library, "cbrt") != NULL;
        dlclose(library);
    }
    return found;
}

static void wait_for(pid_t child, uint64_t *sum)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *sum += WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 1000;
}

static uint64_t children(int rounds)
{
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit((int)(heap((uint32_t)i, 300) & 7));
        wait_for(child, &sum);
        child = fork();
        if (child == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(9);
        }
        wait_for(child, &sum);
    }
    return sum;
}

static uint64_t streams(int rounds)
{
    uint64_t bytes = 0;
    for (int i = 0; i < rounds; i++)
        bytes += (uint64_t)fprintf(nowhere, "%d %s %.3f\n", i, "text", (double)i / 7);
    fflush(nowhere);
    return bytes;
}

/* Blocking calls while signals come: each is finished by its own rules. */
static uint64_t waits(int rounds)
{
    int ends[2];
    uint64_t sum = 0;
    if (pipe(ends) != 0)
        exit(5);
    for (int i = 0; i < rounds; i++) {
        struct timespec left = {0, 300000};
        char byte = (char)i;
        while (nanosleep(&left, &left) != 0 && errno == EINTR)
            ;
        while (write(ends[1], &byte, 1) < 0 && errno == EINTR)
            ;
        while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
            ;
        sum += (uint64_t)byte;
    }
    close(ends[0]);
    close(ends[1]);
    return sum;
}

static void *on_other_stack(void *arg)
{
    static char room[65536];
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    sigaltstack(&stack, NULL);
    *(uint64_t *)arg = heap(77, 3000 * amount);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action;
    struct itimerval alarm = {{0, 700}, {0, 700}};
    uint64_t sums[8] = {0};
    uint64_t other = 0;
    pthread_t id;
    amount = argc > 1 ? atoi(argv[1]) : 1;
    nowhere = fopen("/dev/null", "w");
    memset(&action, 0, sizeof action);
    action.sa_handler = mine;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    action.sa_flags = 0;
    sigaction(SIGUSR2, &action, NULL);
    if (nowhere == NULL || pthread_create(&id, NULL, on_other_stack, &other) != 0)
        return 2;
    setitimer(ITIMER_REAL, &alarm, NULL);
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int part = 0; part < 6; part++) {
#pragma omp task firstprivate(part) shared(sums)
        {
            if (part == 0)
                sums[0] = heap(1, 4000 * amount);
            else if (part == 1)
                sums[1] = threads(6 * amount);
            else if (part == 2)
                sums[2] = libraries(5 * amount) != 0;
            else if (part == 3)
                sums[3] = children(2 * amount);
            else if (part == 4)
                sums[4] = streams(400 * amount);
            else
                sums[5] = waits(8 * amount);
        }
    }
    alarm.it_interval.tv_usec = 0;
    alarm.it_value.tv_usec = 0;
    setitimer(ITIMER_REAL, &alarm, NULL);
    pthread_join(id, NULL);
    for (int part = 0; part < 6; part++)
        printf("%d %llu\n", part, (unsigned long long)sums[part]);
    printf("other %llu, %s\n", (unsigned long long)other, caught[0] > 0 || caught[1] > 0 ? "signals" : "no signals");
    return 0;
}

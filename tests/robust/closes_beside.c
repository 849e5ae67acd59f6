// Three threads record 300,000 events each while a fourth one closes every descriptor that it does not know, and opens others under their
// numbers, again and again: as programs do that begin anew in a thread. Buffers are handed over at any moment of that. The argument is the
// first number that is left alone.
#include <fcntl.h>
#include <instr/instr.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3, EVENTS = 300000 };

static atomic_int left = THREADS;

static void *record(void *unused)
{
    (void)unused;
    for (unsigned i = 1; i <= EVENTS; i++)
        instr_event(651, i);
    atomic_fetch_sub(&left, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    const int most = argc > 1 ? atoi(argv[1]) : 32;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record, NULL);
    while (atomic_load(&left) > 0) {
        for (int fd = 3; fd < most; fd++)
            close(fd);
        const int mine = open("/dev/null", O_RDWR);
        for (int fd = mine + 1; fd < most; fd++)
            dup2(mine, fd);
        usleep(20);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}

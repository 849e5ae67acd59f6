// usage: cancelled COUNT
// COUNT threads, one after the other, record without end and are cancelled at any moment: asynchronously, so also in the middle of an event or while
// a buffer is handed over.
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *record(void *unused)
{
    (void)unused;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        instr_event(810, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    long others = 0;
    for (long i = 0; i < count; i++) {
        const struct timespec pause = {0, i % 7 * 50000};
        pthread_t thread;
        void *result = NULL;
        if (pthread_create(&thread, NULL, record, NULL) != 0)
            return 1;
        nanosleep(&pause, NULL);
        instr_event(811, (uint64_t)i);
        if (pthread_cancel(thread) != 0 || pthread_join(thread, &result) != 0)
            return 2;
        others += result != PTHREAD_CANCELED;
    }
    printf("%ld of %ld are joined otherwise\n", others, count);
    return 0;
}

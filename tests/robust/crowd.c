// usage: crowd COUNT EACH
// COUNT threads begin at the same time; each records 1 to EACH when all are there.
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all;
static unsigned long each;

static void *record(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&all);
    for (unsigned long i = 1; i <= each; i++)
        instr_event(670, i);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const size_t count = strtoul(argv[1], NULL, 10);
    each = strtoul(argv[2], NULL, 10);
    pthread_t *const thread = calloc(count, sizeof *thread);
    pthread_attr_t attributes;
    if (thread == NULL || pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, 65536) != 0 ||
        pthread_barrier_init(&all, NULL, (unsigned)count) != 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&thread[i], &attributes, record, NULL) != 0)
            return 1;
    for (size_t i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    printf("%zu threads\n", count);
    free(thread);
    return 0;
}

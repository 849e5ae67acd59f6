// usage: crowd COUNT EACH FILE
// COUNT threads live at the same time; each records 1 to EACH when all are there. Writes to FILE how often the kernel switched between threads.
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static pthread_barrier_t all;
static unsigned long each;

static void *record(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&all);
    for (unsigned long i = 1; i <= each; i++)
        instr_event(670, i);
    pthread_barrier_wait(&all); /* nobody's window is another's */
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4)
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
    free(thread);
    struct rusage usage;
    FILE *const told = fopen(argv[3], "w");
    if (told == NULL || getrusage(RUSAGE_SELF, &usage) != 0)
        return 3;
    fprintf(told, "%ld\n", usage.ru_nvcsw + usage.ru_nivcsw);
    return fclose(told);
}

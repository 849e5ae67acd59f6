// usage: killed FILE THREADS [short]
// Each thread records 1, 2, 3 … and, after each call has returned, stores the number in FILE, which is shared memory that survives
// the process. Runs until it is killed. With `short`, another thread that ends at once records each number.
#include <fcntl.h>
#include <instr/instr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGEST = 8, STRIDE = 16 };
static volatile uint32_t *stored;

static void *record_one(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    uint32_t number = stored[thread * STRIDE] + 1;
    instr_event(1000 + thread, number);
    __asm__ volatile("" ::: "memory");
    stored[thread * STRIDE] = number;
    return NULL;
}

static void *record_by_others(void *argument)
{
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, record_one, argument) != 0)
            return NULL;
        pthread_join(thread, NULL);
    }
}

static void *record(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    for (uint32_t number = 1;; number++) {
        instr_event(1000 + thread, number);
        __asm__ volatile("" ::: "memory");
        stored[thread * STRIDE] = number;
        // Some work, so that a run of a few ms does not make millions of events.
        for (volatile int i = 0; i < 2000; i++)
            ;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc >= 3 ? atoi(argv[2]) : 0;
    void *(*work)(void *) = argc == 4 ? record_by_others : record;
    if (threads < 1 || threads > LARGEST)
        return 2;
    int fd = open(argv[1], O_RDWR);
    if (fd < 0)
        return 1;
    stored = mmap(NULL, LARGEST * STRIDE * sizeof *stored, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (stored == MAP_FAILED)
        return 1;
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) != 0)
            return 1;
    }
    work(NULL);
    return 0;
}

// usage: secret TEXT
// Computes with a text that lies at the top of the stack, in pieces of every length, so that no word there is anything else.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BYTES = 256 };

static volatile uint64_t sink;

static __attribute__((noinline, noclone)) void burn(const char *text)
{
    char copy[BYTES];
    const size_t length = strlen(text);
    for (size_t i = 0; i < BYTES; i++)
        copy[i] = text[i % length];
    struct timespec now;
    do {
        uint64_t sum = sink;
        for (int i = 0; i < 100000; i++)
            sum = sum * 31 + (uint64_t)((volatile char *)copy)[sum % BYTES];
        sink = sum;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 400000000);
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '\0')
        return 2;
#pragma omp parallel num_threads(1)
    burn(argv[1]);
    puts("burnt");
    return 0;
}

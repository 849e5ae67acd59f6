// Blocks of 1000, 40 × 25 and 500 bytes are got; one of them becomes 2000 bytes. All other requests are in vain. 8,192 bytes of pages come and go.
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *volatile keep[8];

int main(void)
{
    volatile size_t most = SIZE_MAX;
    keep[0] = malloc(1000);
    keep[1] = calloc(40, 25);
    keep[2] = aligned_alloc(64, 500);
    keep[3] = malloc(most);
    keep[4] = malloc(most / 2 + 1);
    keep[5] = calloc(most / 2, 3);
    keep[6] = aligned_alloc(64, most / 4);
    keep[7] = realloc(keep[0], most / 2);
    keep[0] = realloc(keep[0], 2000);
    for (int i = 0; i < 8; i++)
        free(keep[i]);
    void *pages = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return munmap(pages, 8192);
}

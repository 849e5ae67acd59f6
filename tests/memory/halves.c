/* The program asks for memory and never gives any back; the C library does both. In a static program the library's calls are those of the
 * same link: one half of its family traced alone would leave blocks that nobody freed. No output: that would take a buffer. */
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

int main(void)
{
    kept = malloc(1000);
    for (int i = 0; i < 10; i++) {
        FILE *file = fopen("/dev/null", "r");
        if (file == NULL || fclose(file) != 0)
            return 1;
    }
    return kept == NULL;
}

/* Each call is one block. Prints: allocations frees bytes high live. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept, *volatile zeros;

int main(void)
{
    static const char ACCOUNT[] = "6 6 3432 3082 0\n"; /* 77 + 100 + 5 + 200 + 3000 + 50; at most 77 + 3000 + 5 */
    zeros = calloc(7, 11);
    char *p = malloc(100);
    kept = malloc(5);
    strcpy(p, "the same");
    p = realloc(p, 200);
    p = realloc(p, 3000);
    const int same = strcmp(p, "the same") == 0;
    free(zeros);
    free(kept);
    p = realloc(p, 50);
    kept = realloc(p, 0);
    return !same || write(1, ACCOUNT, sizeof ACCOUNT - 1) < 0;
}

/*
 * The heap from C, in rounds, as many as the first argument says. Prints what one round asks for itself: allocations frees bytes. With a
 * second argument the C library allocates too, in each round and for the program.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept; /* no block may be thought away */

static void *seen(void *p)
{
    kept = p;
    if (p == NULL)
        _exit(3);
    return p;
}

static void resizes(void)
{
    void *p = seen(malloc(100));
    p = seen(realloc(p, 5000));
    p = seen(realloc(p, 50));
    p = seen(reallocarray(p, 13, 17));
    kept = realloc(p, 0); /* gives it back */
    free(seen(realloc(NULL, 33)));
    free(seen(reallocarray(NULL, 3, 5)));
}

static void aligned(void)
{
    void *all[6] = {0};
    if (posix_memalign(&all[0], 64, 96) != 0)
        _exit(3);
    all[1] = seen(aligned_alloc(64, 128));
    all[2] = seen(memalign(32, 160));
    all[3] = seen(valloc(10));
    all[4] = seen(pvalloc(20));
    for (int i = 0; i < 6; i++)
        free(all[i]); /* the last one is none */
}

/* Blocks of all sizes, up to ones that the library maps, in use together. */
static void many(void)
{
    void *all[20];
    for (int i = 0; i < 20; i++)
        all[i] = seen(i % 2 ? malloc((size_t)1 << i) : calloc(7, (size_t)i));
    for (int i = 0; i < 20; i++)
        free(all[(i * 7) % 20]);
}

static void round_of(void)
{
    volatile size_t much = (size_t)-1 / 2 + 10;
    resizes();
    aligned();
    many();
    free(seen(malloc(0)));
    free(NULL);
    if (malloc(much) != NULL || calloc(much, 3) != NULL || reallocarray(NULL, much, 2) != NULL)
        _exit(4);
}

/* The C library's own, and what it gets for the program to give back. */
static void library(int round)
{
    char *text = NULL, *line = NULL;
    size_t room = 0;
    int ends[2];
    free(strdup("the library's"));
    free(strndup("the library's", 5));
    if (asprintf(&text, "%0*d", 100 + round, 7) < 0 || pipe(ends) != 0 || write(ends[1], text, strlen(text)) < 0)
        _exit(5);
    close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    if (file == NULL || getline(&line, &room, file) < 100)
        _exit(6);
    fclose(file);
    free(line);
    free(text);
    FILE *memory = open_memstream(&text, &room);
    for (int i = 0; i < 5000; i++)
        fputc('x', memory);
    fclose(memory);
    free(text);
    free(realpath("/", NULL));
    setenv("EVERY_ROUND", round % 2 ? "odd" : "an even one, longer than that", 1);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        round_of();
        if (argc > 2)
            library(i);
    }
    unsigned long bytes = 100 + 5000 + 50 + 13 * 17 + 33 + 15 + 96 + 128 + 160 + 10 + 20;
    for (int i = 0; i < 20; i++)
        bytes += i % 2 ? 1ul << i : 7ul * (unsigned)i;
    printf("%d %d %lu\n", 6 + 5 + 20 + 1, 6 + 5 + 20 + 1, bytes);
    return 0;
}

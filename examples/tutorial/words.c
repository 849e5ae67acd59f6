/* Each thread keeps the words of its part of a text. Some of them are never given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 20000 };

static char *copy_of(const char *word)
{
    char *copy = malloc(strlen(word) + 1);
    if (copy == NULL)
        abort();
    return strcpy(copy, word);
}

static size_t keep(int number)
{
    char text[32];
    snprintf(text, sizeof text, "word-%d", number);
    char *word = copy_of(text);
    const size_t length = strlen(word);
    if (number % 100 != 0)
        free(word);
    return length;
}

int main(void)
{
    size_t letters = 0;
#pragma omp parallel for reduction(+ : letters)
    for (int i = 0; i < WORDS; i++)
        letters += keep(i);
    printf("%zu letters\n", letters);
    return 0;
}

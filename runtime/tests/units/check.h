/* A unit test is a program: every CHECK that fails is printed, and main returns 1. */
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
static int failures;
#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);   \
            failures++;                                                               \
        }                                                                             \
    } while (0)
#endif

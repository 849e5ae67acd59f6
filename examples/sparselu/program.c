#include "program.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BLOCKS = 40, DEFAULT_SIZE = 60, LARGEST_BLOCKS = 256, LARGEST_SIZE = 512 };

struct options {
    int blocks;
    int size;
    bool count;
};

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--count] [BLOCKS [SIZE]]\n"
            "  BLOCKS   blocks per dimension, 1 to %d (default %d)\n"
            "  SIZE     rows of one block, 1 to %d (default %d)\n"
            "  --count  only print how many tasks and dependency edges the task version makes\n",
            program, LARGEST_BLOCKS, DEFAULT_BLOCKS, LARGEST_SIZE, DEFAULT_SIZE);
    return 2;
}

static bool parse_number(const char *text, int largest, int *value)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1 || number > largest) {
        fprintf(stderr, "sparselu: error: '%s' is not a whole number from 1 to %d\n", text, largest);
        return false;
    }
    *value = (int)number;
    return true;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    int positional = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--count") == 0) {
            options->count = true;
        } else if (positional == 0) {
            if (!parse_number(argv[i], LARGEST_BLOCKS, &options->blocks))
                return false;
            positional++;
        } else if (positional == 1) {
            if (!parse_number(argv[i], LARGEST_SIZE, &options->size))
                return false;
            positional++;
        } else {
            fprintf(stderr, "sparselu: error: unexpected argument '%s'\n", argv[i]);
            return false;
        }
    }
    return true;
}

/* The time, which differs from run to run, goes to standard error; everything else is reproducible. */
static int run(const struct options *options, void (*factorize)(struct matrix *))
{
    struct matrix original = matrix_generate(options->blocks, options->size);
    struct matrix factors = matrix_generate(options->blocks, options->size);

    double begin = omp_get_wtime();
    factorize(&factors);
    double seconds = omp_get_wtime() - begin;

    double residual = matrix_residual(&factors, &original);
    bool right = residual <= 1e-12;
    printf("sparselu: %d x %d blocks of %d x %d\n", options->blocks, options->blocks, options->size, options->size);
    printf("checksum: %.9e\n", matrix_checksum(&factors));
    printf("result check: %s (|L U - A| / |A| %s 1e-12)\n", right ? "passed" : "FAILED", right ? "<=" : ">");
    fprintf(stderr, "time: %.6f s with up to %d threads\n", seconds, omp_get_max_threads());
    matrix_free(&original);
    matrix_free(&factors);
    return right && fflush(stdout) == 0 ? 0 : 1;
}

int sparselu_main(int argc, char **argv, void (*factorize)(struct matrix *))
{
    struct options options = {DEFAULT_BLOCKS, DEFAULT_SIZE, false};
    if (!parse_options(argc, argv, &options))
        return usage(argc > 0 ? argv[0] : "sparselu");
    if (options.count) {
        sparselu_print_count(options.blocks);
        return 0;
    }
    return run(&options, factorize);
}

/*
 * The time of one OpenMP construct.
 *
 *   constructs NAME OPERATIONS BLOCKS    median and least time of one operation over the blocks, after one that does not count
 *   constructs --list                    the names
 */
#include "../bench.h"
#include "constructs.h"

#include <string.h>

static const struct construct *const families[] = {work_constructs, mutex_constructs, task_constructs};

enum { FAMILIES = sizeof families / sizeof families[0] };

static const struct construct *find(const char *name)
{
    for (int family = 0; family < FAMILIES; family++)
        for (const struct construct *construct = families[family]; construct->name != NULL; construct++)
            if (strcmp(construct->name, name) == 0)
                return construct;
    return NULL;
}

static int list(void)
{
    for (int family = 0; family < FAMILIES; family++)
        for (const struct construct *construct = families[family]; construct->name != NULL; construct++)
            puts(construct->name);
    return 0;
}

/* What callgrind counts (--toggle-collect): a symbol of its own, and no tail call that would leave it early. */
void __attribute__((noinline)) measured_block(const struct construct *construct, long operations);

void measured_block(const struct construct *construct, long operations)
{
    construct->block(operations);
    nothing();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    const struct construct *construct = argc < 2 ? NULL : find(argv[1]);
    if (construct == NULL) {
        fprintf(stderr, "usage: %s NAME OPERATIONS BLOCKS, or --list for the names\n", argv[0]);
        return 2;
    }
    struct bench bench = bench_arguments(argc - 1, argv + 1);
    double times[BENCH_LARGEST_BLOCKS];
    construct->block(bench.operations);
    for (int block = 0; block < bench.blocks; block++) {
        double begin = bench_now();
        measured_block(construct, bench.operations);
        times[block] = bench_now() - begin;
    }
    bench_print(construct->name, &bench, times);
    return 0;
}

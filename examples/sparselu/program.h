/* What the two versions share: arguments, timing, result check. */
#ifndef SPARSELU_PROGRAM_H
#define SPARSELU_PROGRAM_H

#include "matrix.h"

/* Runs `factorize` on a generated matrix as the arguments say; returns the exit status:
 * 0 the result is right, 1 it is wrong, 2 wrong usage. */
int sparselu_main(int argc, char **argv, void (*factorize)(struct matrix *));

/* Prints how many tasks of each kind, and how many dependency edges, the task version makes. */
void sparselu_print_count(int blocks);

#endif

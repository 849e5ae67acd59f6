/*
 * Ways to put N queens on a board of N × N so that none attacks another: a task for every queen of the first DEPTH rows, below
 * them a plain search.
 *
 *   nqueens N DEPTH
 */
#include "program.h"

/* Known numbers of solutions (sequence A000170 of the On-Line Encyclopedia of Integer Sequences). */
static const long solutions[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

/* Columns and diagonals under attack in the next row, a bit for each column. */
struct board {
    unsigned columns, left, right;
};

static unsigned free_columns(const struct board *board, unsigned all)
{
    return all & ~(board->columns | board->left | board->right);
}

static struct board put(const struct board *board, unsigned queen)
{
    return (struct board){board->columns | queen, (board->left | queen) << 1, (board->right | queen) >> 1};
}

static long search(struct board board, unsigned all)
{
    if (board.columns == all)
        return 1;
    long found = 0;
    for (unsigned left = free_columns(&board, all); left != 0; left &= left - 1)
        found += search(put(&board, left & -left), all);
    return found;
}

static long search_with_tasks(struct board board, unsigned all, long depth)
{
    if (depth == 0 || board.columns == all)
        return search(board, all);
    long found[32] = {0};
    int tasks = 0;
    for (unsigned left = free_columns(&board, all); left != 0; left &= left - 1) {
        struct board next = put(&board, left & -left);
        long *result = &found[tasks++];
#pragma omp task firstprivate(next, all, depth, result)
        *result = search_with_tasks(next, all, depth - 1);
    }
#pragma omp taskwait
    long sum = 0;
    for (int task = 0; task < tasks; task++)
        sum += found[task];
    return sum;
}

static long count_tasks(struct board board, unsigned all, long depth)
{
    long tasks = 0;
    if (depth == 0)
        return 0;
    for (unsigned left = free_columns(&board, all); left != 0; left &= left - 1)
        tasks += 1 + count_tasks(put(&board, left & -left), all, depth - 1);
    return tasks;
}

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, "N", 1, (long)(sizeof solutions / sizeof solutions[0]) - 1);
    long depth = argument(argc, argv, 2, "the depth", 0, n);
    unsigned all = (1u << n) - 1;
    struct board empty = {0, 0, 0};
    long result = 0;
    double begin = now();
#pragma omp parallel
#pragma omp single
    result = search_with_tasks(empty, all, depth);
    double seconds = now() - begin;
    return report(argv[0], seconds, count_tasks(empty, all, depth), result == solutions[n]);
}

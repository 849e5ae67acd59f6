/*
 * How many tasks and dependency edges the task version makes, computed without running or tracing it.
 *
 * The block pattern is played through, and OpenMP's rules for `depend` are applied to it: a task that reads a
 * block comes after the last task that wrote it; a task that writes a block comes after all tasks that read it
 * since, or, if there are none, after the last one that wrote it. An edge is a pair (earlier task, later task);
 * a pair that two clauses give is counted once.
 *
 * The same number follows from arithmetic: once a block is read, it is never written again, so that the only
 * edges are those from the writers of what a task reads (1 for fwd and bdiv, 2 for bmod, all different), and the
 * chain of writers of each block, which is one edge shorter than the number of its writers. The two are compared.
 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

struct readers {
    int *task;
    int count;
    int room;
};

struct block {
    bool exists;
    int writer;             /* the last task that wrote it, 0 = none */
    struct readers readers; /* tasks that read it since */
};

struct count {
    long lu0, fwd, bdiv, bmod, edges;
    int tasks;
    struct readers earlier; /* the tasks that the task at hand comes after */
};

static void append(struct readers *list, int task)
{
    if (list->count == list->room) {
        list->room = list->room == 0 ? 8 : 2 * list->room;
        list->task = realloc(list->task, (size_t)list->room * sizeof(int));
        if (list->task == NULL) {
            fprintf(stderr, "sparselu: error: cannot count the edges: out of memory\n");
            exit(1);
        }
    }
    list->task[list->count++] = task;
}

static void append_once(struct readers *list, int task)
{
    for (int i = 0; i < list->count; i++)
        if (list->task[i] == task)
            return;
    append(list, task);
}

static void read_block(struct count *count, struct block *block)
{
    if (block->writer != 0)
        append_once(&count->earlier, block->writer);
    append(&block->readers, count->tasks);
}

static void write_block(struct count *count, struct block *block)
{
    for (int i = 0; i < block->readers.count; i++)
        append_once(&count->earlier, block->readers.task[i]);
    if (block->readers.count == 0 && block->writer != 0)
        append_once(&count->earlier, block->writer);
    block->readers.count = 0;
    block->writer = count->tasks;
    block->exists = true;
}

/* One task that reads up to two blocks and then writes one. */
static void task(struct count *count, struct block *first, struct block *second, struct block *written)
{
    count->tasks++;
    count->earlier.count = 0;
    if (first != NULL)
        read_block(count, first);
    if (second != NULL)
        read_block(count, second);
    write_block(count, written);
    count->edges += count->earlier.count;
}

static void count_step(struct count *count, struct block *block, int blocks, int k)
{
    struct block *diagonal = &block[k * blocks + k];
    task(count, NULL, NULL, diagonal);
    count->lu0++;
    for (int column = k + 1; column < blocks; column++) {
        if (block[k * blocks + column].exists) {
            task(count, diagonal, NULL, &block[k * blocks + column]);
            count->fwd++;
        }
    }
    for (int row = k + 1; row < blocks; row++) {
        if (block[row * blocks + k].exists) {
            task(count, diagonal, NULL, &block[row * blocks + k]);
            count->bdiv++;
        }
    }
    for (int row = k + 1; row < blocks; row++) {
        for (int column = k + 1; column < blocks; column++) {
            struct block *left = &block[row * blocks + k], *above = &block[k * blocks + column];
            if (left->exists && above->exists) {
                task(count, left, above, &block[row * blocks + column]);
                count->bmod++;
            }
        }
    }
}

/* Blocks of the factorized matrix; frees what the simulation allocated. */
static long count_blocks_and_free(struct block *block, int blocks)
{
    long existing = 0;
    for (int i = 0; i < blocks * blocks; i++) {
        existing += block[i].exists ? 1 : 0;
        free(block[i].readers.task);
    }
    free(block);
    return existing;
}

void sparselu_print_count(int blocks)
{
    struct block *block = calloc((size_t)blocks * (size_t)blocks, sizeof *block);
    if (block == NULL) {
        fprintf(stderr, "sparselu: error: cannot count the edges: out of memory\n");
        exit(1);
    }
    for (int i = 0; i < blocks * blocks; i++)
        block[i].exists = matrix_pattern(i / blocks, i % blocks);

    struct count count = {0};
    for (int k = 0; k < blocks; k++)
        count_step(&count, block, blocks, k);
    free(count.earlier.task);
    long existing = count_blocks_and_free(block, blocks);

    long arithmetic = count.tasks - existing + count.fwd + count.bdiv + 2 * count.bmod;
    if (count.edges != arithmetic) {
        fprintf(stderr, "sparselu: error: counted %ld edges, but arithmetic gives %ld\n", count.edges, arithmetic);
        exit(1);
    }
    printf("lu0 %ld\nfwd %ld\nbdiv %ld\nbmod %ld\ntasks %d\nedges %ld\n", count.lu0, count.fwd, count.bdiv, count.bmod,
           count.tasks, count.edges);
}

/* Memory for task data that is too large for the stack, without malloc. */
#ifndef INSTR_LARGE_BLOCK_H
#define INSTR_LARGE_BLOCK_H

#include <stddef.h>

/* A block of at least `bytes` bytes at a multiple of 64; NULL when there is no memory. */
void *instr_large_block(size_t bytes);

/* Keeps the block for the next who asks, or gives it back to the system. NULL is fine. */
void instr_large_block_free(void *block);

#endif

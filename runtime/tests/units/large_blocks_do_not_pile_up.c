/* Memory for large task data: each block is its user's own while used, a number of them is kept afterwards and the others are unmapped; errno stays. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "probes/large_block.h"

#define BLOCKS 500u
#define KEPT 64u /* probes/large_block.c, MOST_KEPT */
#define BYTES 5000u

static char *blocks[BLOCKS];
static int ends[2];

/* Whether the system can read there. */
static int is_mapped(const char *p)
{
    char c;
    if (write(ends[1], p, 1) != 1)
        return 0;
    return read(ends[0], &c, 1) == 1;
}

int main(void)
{
    CHECK(pipe(ends) == 0);
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            blocks[i] = instr_large_block(BYTES);
            CHECK(blocks[i] != NULL && (uintptr_t)blocks[i] % 64 == 0);
            if (blocks[i] == NULL)
                return 1;
            memset(blocks[i], (int)i & 255, BYTES);
        }
        for (unsigned i = 0; i < BLOCKS; i++) {
            CHECK(blocks[i][0] == (char)i && blocks[i][BYTES - 1] == (char)i);
            errno = 77;
            instr_large_block_free(blocks[i]);
            CHECK(errno == 77);
        }
        unsigned mapped = 0;
        for (unsigned i = 0; i < BLOCKS; i++)
            mapped += (unsigned)is_mapped(blocks[i]);
        CHECK(mapped == KEPT);
    }
    errno = 77;
    CHECK(instr_large_block(SIZE_MAX - 16384) == NULL);
    CHECK(instr_large_block(SIZE_MAX) == NULL);
    instr_large_block_free(NULL);
    CHECK(errno == 77);
    return failures != 0;
}

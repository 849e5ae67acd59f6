#include "core/cold.h"

#include "core/text.h"

#include <string.h>

bool instr_text_append(char *to, size_t bytes, const char *piece)
{
    const size_t have = strlen(to);
    const size_t more = strlen(piece);
    if (have + more >= bytes)
        return false;
    memcpy(to + have, piece, more + 1);
    return true;
}

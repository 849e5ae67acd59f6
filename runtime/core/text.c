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

const char *instr_decimal(uint64_t value, unsigned fewest, char buffer[INSTR_DECIMAL_BYTES])
{
    unsigned at = INSTR_DECIMAL_BYTES - 1;
    buffer[at] = '\0';
    do {
        buffer[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0 || INSTR_DECIMAL_BYTES - 1 - at < fewest);
    return buffer + at;
}

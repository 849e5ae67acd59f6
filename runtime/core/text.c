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
        const uint64_t rest = value / 10; /* one call of a function where registers have 32 bits */
        buffer[--at] = (char)('0' + (uint32_t)value - (uint32_t)rest * 10);
        value = rest;
    } while (value != 0 || INSTR_DECIMAL_BYTES - 1 - at < fewest);
    return buffer + at;
}

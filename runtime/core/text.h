/* Texts in arrays of their own. */
#ifndef INSTR_TEXT_H
#define INSTR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends `piece` to the text in `to`, an array of `bytes` bytes; false, and nothing appended, when it does not fit. */
bool instr_text_append(char *to, size_t bytes, const char *piece);

/* Decimal digits of `value`, at least `fewest` (at most 20) of them, at the end of `buffer`. */
#define INSTR_DECIMAL_BYTES 24u
const char *instr_decimal(uint64_t value, unsigned fewest, char buffer[INSTR_DECIMAL_BYTES]);

#endif

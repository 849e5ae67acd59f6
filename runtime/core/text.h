/* Texts in arrays of their own. */
#ifndef INSTR_TEXT_H
#define INSTR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Appends `piece` to the text in `to`, an array of `bytes` bytes; false, and nothing appended, when it does not fit. */
bool instr_text_append(char *to, size_t bytes, const char *piece);

#endif

/* Lists of patterns that select sensors by name: "rapl,hwmon/coretemp/temp*,psi". */
#ifndef INSTR_SELECT_H
#define INSTR_SELECT_H

#include <stdbool.h>

/*
 * Whether a pattern of the list selects `name`: it matches the whole name or its first parts, up to a '/'. In a pattern '*' stands for any
 * characters but '/', '?' for one; "all" selects everything. A pattern that begins with '!' takes out what it selects.
 */
bool instr_selects(const char *list, const char *name);

/* Whether a pattern of the list could select a name that begins with `family` and '/'. */
bool instr_selects_below(const char *list, const char *family);

#endif

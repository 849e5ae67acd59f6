#include "core/cold.h"

#include "sensors/select.h"

#include <stddef.h>
#include <string.h>

/* Whether [p, end) matches the name up to its end or a '/'. With `prefix`, also whether the name ends before the pattern, at a '/' of it. */
static bool matches(const char *p, const char *end, const char *name, bool prefix)
{
    const char *star = NULL; /* where to go on when a longer '*' is tried */
    const char *tried = NULL;
    for (;;) {
        if (p == end && (*name == '\0' || *name == '/'))
            return true;
        if (prefix && *name == '\0' && p < end && *p == '/')
            return true;
        if (p < end && *p == '*') {
            star = ++p;
            tried = name;
        } else if (p < end && *name != '\0' && (*p == *name || (*p == '?' && *name != '/'))) {
            p++;
            name++;
        } else if (star != NULL && *tried != '\0' && *tried != '/') {
            p = star;
            name = ++tried;
        } else {
            return false;
        }
    }
}

static bool in_list(const char *list, const char *name, bool prefix)
{
    bool selected = false;
    for (const char *p = list; *p != '\0';) {
        const size_t length = strcspn(p, ", ");
        const bool out = length > 0 && *p == '!';
        const char *const begin = p + (out ? 1 : 0);
        const char *const end = p + length;
        if (begin < end) {
            const bool all = (end - begin == 3 && memcmp(begin, "all", 3) == 0) || (end - begin == 1 && *begin == '*');
            if (all || matches(begin, end, name, prefix && !out))
                selected = !out;
        }
        p = end + strspn(end, ", ");
    }
    return selected;
}

bool instr_selects(const char *list, const char *name)
{
    return in_list(list, name, false);
}

bool instr_selects_below(const char *list, const char *family)
{
    return in_list(list, family, true);
}

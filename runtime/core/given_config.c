#include "core/cold.h"

#include "core/given_config.h"

#if INSTR_KEEPS_RUNS

#include <stddef.h>
#include <string.h>

#include "core/setting_names.h"
#include "core/settings.h"
#include "core/text.h"

static const char ALL[] = INSTR_SETTING_NAMES;
static const char CHANGEABLE[] = INSTR_CHANGEABLE_NAMES;

/* `NAME=VALUE`, each with a NUL behind it. What was given stays in its place: settings point there. */
static char given[4096];
static size_t used;

/* Whether a list of names with NULs behind them has this one. */
static bool has(const char *list, const char *name, size_t length)
{
    for (; *list != '\0'; list += strlen(list) + 1)
        if (strlen(list) == length && memcmp(list, name, length) == 0)
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool refuse(const char *begin, size_t length, const char *why)
{
    char text[160] = "instr_start: ";
    char name[64];
    if (length >= sizeof name)
        length = sizeof name - 1;
    memcpy(name, begin, length);
    name[length] = '\0';
    for (char *c = name; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            *c = '?';
    (void)instr_text_append(text, sizeof text, name);
    (void)instr_text_append(text, sizeof text, why);
    instr_settings_complain(text);
    return false;
}

/* One setting, from `begin` to `end`, to the place `at`. */
static bool take(const char *begin, const char *end, bool all, size_t *at)
{
    const char *const equals = memchr(begin, '=', (size_t)(end - begin));
    const size_t length = (size_t)((equals != NULL ? equals : end) - begin);
    if (equals == NULL || !has(ALL, begin, length))
        return refuse(begin, length, equals == NULL ? " has no =" : " is no setting");
    if (!all && !has(CHANGEABLE, begin, length))
        return refuse(begin, length, " cannot change any more: the trace has begun");
    const size_t bytes = (size_t)(end - begin);
    if (bytes + 2 > sizeof given - *at)
        return refuse(begin, length, ": there is no room for so many settings");
    memcpy(given + *at, begin, bytes);
    given[*at + bytes] = '\0';
    *at += bytes + 1;
    return true;
}

bool instr_given_take(const char *config, bool all)
{
    size_t at = used;
    while (*config != '\0') {
        const char *const next = config + strcspn(config, ";\n");
        const char *end = next;
        while (config < end && is_blank(*config))
            config++;
        while (end > config && is_blank(end[-1]))
            end--;
        if (config < end && !take(config, end, all, &at)) {
            memset(given + used, 0, sizeof given - used);
            return false;
        }
        config = *next != '\0' ? next + 1 : next;
    }
    used = at;
    return true;
}

const char *instr_given_setting(const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;
    for (const char *at = given; at < given + used; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            found = at + length + 1;
    return found;
}

#endif

#include "core/cold.h"

#include "core/static_config.h"

#include <string.h>

#ifdef INSTR_SHARED
const struct instr_static_config *instr_config_given;
#endif

const char *instr_static_setting(const char *name)
{
    if (!INSTR_HAS_CONFIG || instr_config.settings == NULL)
        return NULL;
    for (const char *const *s = instr_config.settings; s[0] != NULL && s[1] != NULL; s += 2)
        if (strcmp(s[0], name) == 0)
            return s[1];
    return NULL;
}

/* Where nothing is recorded, the OpenMP runtime is told that there is no tool of ours, so that it asks for another: also before our constructor. */
#include <stdlib.h>

#include "core/settings.h"
#include "ompt/ompt.h"
#include "recorded.h"

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);

int main(void)
{
    const bool recorded_now = instr_self != NULL;
    CHECK((ompt_start_tool(201811, "test") != NULL) == recorded_now);

    /* As before the constructor has read the settings. */
    instr_settings = (struct instr_settings){.enabled = true};
    CHECK((ompt_start_tool(201811, NULL) != NULL) == recorded_now);
    CHECK(instr_settings.buffer != 0);

    /* A trace that could not be begun. */
    if (!recorded_now) {
        instr_settings.enabled = true;
        CHECK(ompt_start_tool(201811, "test") == NULL);
    }
    return failures != 0;
}

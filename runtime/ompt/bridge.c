/*
 * A library of its own, for a libomp that was linked with -Bsymbolic-functions, as Ubuntu's is. Such a libomp calls its own ompt_start_tool,
 * not the program's; that one asks the next object behind libomp for a tool. Ours is loaded there by ompt/bound.c, and leads back to
 * the program's.
 */
#include <stdbool.h>
#include <stddef.h>

#include "ompt/ompt.h"

#define SHOWN __attribute__((visibility("default")))

/* The program's ompt_start_tool, or a library's. */
extern SHOWN instr_ompt_start_fn *instr_bridge;
instr_ompt_start_fn *instr_bridge;

SHOWN ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name)
{
    static bool asked; /* the program's asks libomp's for another tool, and that one asks here again */
    if (asked || instr_bridge == NULL)
        return NULL;
    asked = true;
    ompt_start_tool_result_t *const tool = instr_bridge(version, name);
    asked = false;
    return tool;
}

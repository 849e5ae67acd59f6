/*
 * What libomp finds in a program. The linker is told to take this file out of the archive (`-u ompt_start_tool`), and only in programs that use
 * libomp.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "ompt/ompt.h"

#pragma weak dlsym

const char instr_ompt_linked = 1;

/* Found by the OpenMP library, which must not be kept from seeing it by our visibility. */
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name)
{
    instr_ompt_start_fn *next = NULL;
    if (dlsym != NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
    return instr_ompt_choose(next, version, name);
}

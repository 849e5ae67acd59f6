/*
 * What libomp finds in a shared library: instr-cc links this file into those that use libomp. It asks the one runtime of the process, which
 * library/library.c looks for when that was not done yet: a constructor before ours may use OpenMP.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "library/needs.h"
#include "ompt/ompt.h"

#pragma weak dlsym

__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name)
{
    __typeof__(instr_ompt_choose) *choose = NULL;
    instr_ompt_start_fn *next = NULL;
    if (dlsym != NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
    choose = (__typeof__(choose))instr_library_find("instr_ompt_choose");
    if (choose != NULL)
        return choose(next, version, name);
    return next != NULL ? next(version, name) : NULL;
}

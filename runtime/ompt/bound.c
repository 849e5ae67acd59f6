/*
 * In programs, and libraries, whose libomp looks for a tool behind itself only (ompt/bridge.c): loads what leads it to ours, before anything uses
 * OpenMP. Where that library is gone, libomp finds no tool, and the trace has no constructs of OpenMP; INSTR_VERBOSE=1 says so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "library/table.h"
#include "library/trusted.h"
#include "ompt/ompt.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define BRIDGE_NAME "libinstr_ompt.so." TEXT(INSTR_TABLE_VERSION)

/* instr-cc tells it. */
#ifndef INSTR_BRIDGE_PATH
#define INSTR_BRIDGE_PATH BRIDGE_NAME
#endif

#pragma weak dlopen
#pragma weak dlsym

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);

#if INSTR_BOUND_LIBRARY
#include "library/needs.h"

static bool wanted(void)
{
    return instr_library_find("instr_ompt_choose") != NULL;
}

static void trouble(const char *why)
{
    (void)why; /* the program's runtime has the word */
}
#else
#include "core/process.h"
#include "core/settings.h"

static bool wanted(void)
{
    return instr_process.active != INSTR_OFF;
}

static void trouble(const char *why)
{
    if (instr_settings.trouble == NULL)
        instr_settings.trouble = why;
}
#endif

static instr_ompt_start_fn **bridge;

/* Behind the runtime's own beginning, before the program's constructors. */
__attribute__((constructor(102))) static void load_bridge(void)
{
    if (dlopen == NULL || dlsym == NULL || !wanted())
        return;
    const int error = errno;
    void *object = NULL;
    if (instr_is_trusted(INSTR_BRIDGE_PATH, &bridge))
        object = dlopen(INSTR_BRIDGE_PATH, RTLD_NOW | RTLD_GLOBAL);
    if (object == NULL)
        object = dlopen(BRIDGE_NAME, RTLD_NOW | RTLD_GLOBAL);
    bridge = object != NULL ? (instr_ompt_start_fn **)dlsym(object, "instr_bridge") : NULL;
    if (bridge == NULL)
        trouble("this libomp finds tools in shared libraries alone, and " INSTR_BRIDGE_PATH " cannot be loaded: OpenMP is not recorded");
    else if (*bridge == NULL)
        *bridge = ompt_start_tool;
    errno = error;
}

/* A library that is unloaded takes its tool with it. */
__attribute__((destructor(102))) static void leave_bridge(void)
{
    if (bridge != NULL && *bridge == ompt_start_tool)
        *bridge = NULL;
}

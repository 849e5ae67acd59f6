/* RTEMS: no signal ends periods. A file of its own, since programs that handle signals are not all sampled. */
#include "core/cold.h"

#include "platform/platform.h"

bool instr_platform_sampling_signal(int signal, bool takes, void *old)
{
    (void)signal;
    (void)takes;
    (void)old;
    return false;
}

void instr_platform_sampling_awaited(const void *set)
{
    (void)set;
}

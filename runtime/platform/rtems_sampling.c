/* RTEMS: nothing ends periods yet. */
#include "core/cold.h"

#include "platform/platform.h"

const char *instr_platform_sampling_begin(const char *name)
{
    (void)name;
    return "INSTR_SAMPLING_PERIOD: on this system nothing ends periods; there are no samples";
}

bool instr_platform_sampling_thread(uint64_t period_ns, uint32_t clock, int32_t *timer, uint32_t *signal)
{
    (void)period_ns;
    (void)clock;
    (void)timer;
    (void)signal;
    return false;
}

void instr_platform_sampling_stop(int32_t timer)
{
    (void)timer;
}

void instr_platform_sampling_end(void)
{
}

bool instr_platform_sampling_signal(int signal, bool takes, void *old)
{
    (void)signal;
    (void)takes;
    (void)old;
    return false;
}

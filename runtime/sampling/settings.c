/* The settings of sampling. */
#include "core/cold.h"

#include <string.h>

#include "core/config.h"
#include "core/settings.h"
#include "platform/platform.h"
#include "sampling/sampling.h"

static void set_number(const char *name, const char *trouble, uint64_t most, uint32_t *number)
{
    const char *text = instr_platform_getenv(name);
    uint64_t value;
    if (text == NULL || text[0] == '\0')
        return;
    if (instr_parse_size(text, &value) && value <= most)
        *number = (uint32_t)value;
    else
        instr_settings_complain(trouble);
}

void instr_sampling_settings(void)
{
    struct instr_settings *const s = &instr_settings;
    const char *text = instr_platform_getenv("INSTR_SAMPLING_PERIOD");
    uint64_t ns;
    s->sampling_clock = INSTR_SAMPLING_TASK;
    s->sampling_depth = INSTR_CFG_SAMPLING_DEPTH;
    s->sampling_signal = instr_platform_getenv("INSTR_SAMPLING_SIGNAL");
    if (text == NULL || text[0] == '\0' || strcmp(text, "0") == 0)
        return;
    if (instr_parse_time(text, &ns) && ns >= INSTR_CFG_SAMPLING_LEAST_NS)
        s->sampling_ns = ns;
    else
        instr_settings_complain(INSTR_WHY("INSTR_SAMPLING_PERIOD is not a time of at least 50us, such as 1ms; there are no samples"));
    text = instr_platform_getenv("INSTR_SAMPLING_CLOCK");
    if (text != NULL && strcmp(text, "real") == 0)
        s->sampling_clock = INSTR_SAMPLING_REAL;
    else if (text != NULL && strcmp(text, "timer") == 0)
        s->sampling_clock = INSTR_SAMPLING_CPU;
    else if (text != NULL && text[0] != '\0' && strcmp(text, "cpu") != 0)
        instr_settings_complain(INSTR_WHY("INSTR_SAMPLING_CLOCK is not cpu, timer or real; cpu is used"));
    if (s->sampling_clock == INSTR_SAMPLING_REAL && s->sampling_ns < INSTR_CFG_SAMPLING_REAL_LEAST_NS && s->sampling_ns != 0) {
        s->sampling_ns = INSTR_CFG_SAMPLING_REAL_LEAST_NS;
        instr_settings_complain(INSTR_WHY("INSTR_SAMPLING_PERIOD is less than 500us, too short for INSTR_SAMPLING_CLOCK=real; 500us is used"));
    }
    set_number("INSTR_SAMPLING_DEPTH", INSTR_WHY("INSTR_SAMPLING_DEPTH is not a number up to 128; 32 is used"), 128, &s->sampling_depth);
    set_number("INSTR_SAMPLING_STACK", INSTR_WHY("INSTR_SAMPLING_STACK is not a size up to 64K; 0 is used"), 65536, &s->sampling_stack);
}

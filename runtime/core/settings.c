#include "core/cold.h"

#include "core/settings.h"

#include <string.h>

#include "core/config.h"
#include "platform/platform.h"

struct instr_settings instr_settings = {.enabled = true};

const char *instr_policy_name(enum instr_policy policy)
{
    return policy == INSTR_POLICY_STREAM ? "stream" : policy == INSTR_POLICY_END ? "end" : "ring";
}

bool instr_parse_size(const char *text, uint64_t *bytes)
{
    uint64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value > UINT64_MAX / 10 - 1)
            return false;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    if (p == text)
        return false;
    unsigned shift = 0;
    if (*p == 'K' || *p == 'k')
        shift = 10;
    else if (*p == 'M' || *p == 'm')
        shift = 20;
    else if (*p == 'G' || *p == 'g')
        shift = 30;
    if (shift != 0)
        p++;
    if (*p != '\0' || value > UINT64_MAX >> shift)
        return false;
    *bytes = value << shift;
    return true;
}

static void set_switch(const char *name, const char *trouble, bool *flag)
{
    const char *text = instr_platform_getenv(name);
    if (text == NULL || text[0] == '\0')
        return;
    if (strcmp(text, "0") == 0)
        *flag = false;
    else if (strcmp(text, "1") == 0)
        *flag = true;
    else if (instr_settings.trouble == NULL)
        instr_settings.trouble = trouble;
}

static void set_policy(struct instr_settings *s)
{
    const char *text = instr_platform_getenv("INSTR_POLICY");
    if (text == NULL || text[0] == '\0' || strcmp(text, "stream") == 0)
        s->policy = INSTR_POLICY_STREAM;
    else if (strcmp(text, "end") == 0)
        s->policy = INSTR_POLICY_END;
    else if (strcmp(text, "ring") == 0)
        s->policy = INSTR_POLICY_RING;
    else if (s->trouble == NULL)
        s->trouble = "INSTR_POLICY is not stream, end or ring; stream is used";
}

static void set_buffer(struct instr_settings *s)
{
    uint64_t bytes = s->policy == INSTR_POLICY_STREAM ? INSTR_CFG_STREAM_BYTES
                     : s->policy == INSTR_POLICY_END  ? INSTR_CFG_END_BYTES
                                                      : INSTR_CFG_RING_BYTES;
    const char *text = instr_platform_getenv("INSTR_BUFFER");
    if (text != NULL && text[0] != '\0') {
        uint64_t wanted;
        if (!instr_parse_size(text, &wanted)) {
            if (s->trouble == NULL)
                s->trouble = "INSTR_BUFFER is not a size such as 65536, 256K or 4M; the default is used";
        } else if (wanted < INSTR_CFG_MIN_BYTES) {
            bytes = INSTR_CFG_MIN_BYTES;
            if (s->trouble == NULL)
                s->trouble = "INSTR_BUFFER is too small; the smallest size, 4096 bytes, is used";
        } else {
            bytes = wanted < INSTR_CFG_MAX_BYTES ? wanted : INSTR_CFG_MAX_BYTES;
        }
    }
    s->slots = 1;
    if (s->policy == INSTR_POLICY_RING) {
        s->slots = INSTR_CFG_RING_SLOTS;
        while (s->slots > 2 && bytes / s->slots < INSTR_CFG_MIN_BYTES / 2)
            s->slots /= 2;
    }
    const uint64_t unit = 8u * s->slots;
    s->buffer = (uint32_t)(bytes / unit * unit);
}

void instr_settings_read(void)
{
    struct instr_settings *s = &instr_settings;
    s->trouble = NULL;
    set_switch("INSTR_ENABLED", "INSTR_ENABLED is not 0 or 1; 1 is used", &s->enabled);
    set_switch("INSTR_VERBOSE", "INSTR_VERBOSE is not 0 or 1; 0 is used", &s->verbose);
    set_policy(s);
    set_buffer(s);
    const char *sink = instr_platform_getenv("INSTR_SINK");
    if (sink != NULL && sink[0] != '\0' && strcmp(sink, "file") != 0 && s->trouble == NULL)
        s->trouble = "INSTR_SINK is not file; file is used";
    const char *trace = instr_platform_getenv("INSTR_TRACE");
    s->trace = trace != NULL && trace[0] != '\0' ? trace : NULL;
}

/* Values of counters that shared the processor's are scaled by the time each was counted; names of events are perf's, and what is refused says why. */
#include <string.h>

#include "check.h"
#include "core/settings.h"
#include "platform/linux/perf.h"

static const char *parsed(const char *text, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    return instr_perf_parse(text, strlen(text), attr);
}

static void scaling(void)
{
    CHECK(instr_perf_scaled(1000, 500, 500) == 1000); /* counted all the time: as it is */
    CHECK(instr_perf_scaled(1000, 0, 0) == 1000);
    CHECK(instr_perf_scaled(1000, 400, 100) == 4000); /* a quarter of the time */
    CHECK(instr_perf_scaled(3, 5, 2) == 8);           /* 7.5, to the nearest */
    CHECK(instr_perf_scaled(0, 4000000000u, 1) == 0);
    /* An hour at 4 GHz, counted for a third of it: 64 bits hold the result, but not the product on the way. */
    const uint64_t hour = UINT64_C(3600000000000);
    CHECK(instr_perf_scaled(UINT64_C(4800000000000), hour, hour / 3) == UINT64_C(14400000000000));
    /* Whole multiples stay exact where a double does not. */
    CHECK(instr_perf_scaled((UINT64_C(1) << 60) + 2, 6, 2) == 3 * ((UINT64_C(1) << 60) + 2));
}

static void names(void)
{
    struct perf_event_attr a;
    CHECK(parsed("cycles", &a) == NULL && a.type == PERF_TYPE_HARDWARE && a.config == PERF_COUNT_HW_CPU_CYCLES);
    CHECK(parsed("instructions:u", &a) == NULL && a.config == PERF_COUNT_HW_INSTRUCTIONS && a.exclude_kernel && !a.exclude_user);
    CHECK(parsed("page-faults:k", &a) == NULL && a.type == PERF_TYPE_SOFTWARE && a.exclude_user && !a.exclude_kernel);
    CHECK(parsed("cache-misses:uk", &a) == NULL && !a.exclude_user && !a.exclude_kernel);
    CHECK(parsed("LLC-loads", &a) == NULL && a.type == PERF_TYPE_HW_CACHE && a.config == PERF_COUNT_HW_CACHE_LL);
    CHECK(parsed("dTLB-store-misses", &a) == NULL && a.config == (PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8 | 1u << 16));
    CHECK(parsed("r01a8", &a) == NULL && a.type == PERF_TYPE_RAW && a.config == 0x1a8);
}

static void refused(void)
{
    struct perf_event_attr a;
    CHECK(strstr(parsed("cycels", &a), "no event of this name") != NULL);
    CHECK(strstr(parsed("", &a), "no event of this name") != NULL);
    CHECK(strstr(parsed("r01g8", &a), "no event of this name") != NULL);
    CHECK(strstr(parsed("cycles:pp", &a), "modifier") != NULL);
    CHECK(strstr(parsed("nosuchunit/event=1/", &a), "no unit") != NULL);
    CHECK(strstr(parsed("cpu/event=1", &a), "'/'") != NULL);
    CHECK(strstr(parsed("nosuch:tracepoint", &a), "tracing") != NULL);
    CHECK(parsed("../../x:y", &a) != NULL);
    CHECK(strstr(parsed("..:y", &a), "no event of this name") != NULL);
    CHECK(parsed("/", &a) != NULL && parsed("//", &a) != NULL && parsed(":", &a) != NULL && parsed(":u", &a) != NULL);
}

int main(void)
{
    instr_settings.sensors_root = "";
    scaling();
    names();
    refused();
    return failures != 0;
}

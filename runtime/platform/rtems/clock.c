/*
 * Clocks of RTEMS. LEON processors with an up-counter are read directly: %asr23 holds its low 32 bits, %asr22 the high 24 (GRLIB IP
 * Core User's Manual, LEON4, "Time stamp counter"); it is shared by all processors. Elsewhere the CPU counter of RTEMS is extended
 * from 32 to 64 bits here.
 */
#define _GNU_SOURCE

#include "core/cold.h"

#include "platform/rtems/system.h"

#include <time.h>

#include <rtems.h>
#include <rtems/counter.h>

#include "arch/arch.h"
#include "platform/platform.h"

bool instr_rtems_up_counter;

/* Number of times that bit 31 of the counter has changed. Whoever sees it change writes the same number. */
static volatile uint32_t halves;

/* One moment on the counter and the system's clock, when the system was sound; no counter: frequency 0. */
static struct {
    uint64_t ticks;
    uint64_t ns;
    uint32_t frequency;
} sound;
static uint64_t last_ns;
static uint32_t dying_calls;

/* When the system is dying, its clock may stand still, or be in the middle of a change for which readers wait. The counter goes on. */
static uint64_t dying_ns(void)
{
    if (sound.frequency == 0)
        return last_ns + UINT64_C(1000000) * ++dying_calls;
    const uint64_t ticks = instr_rtems_ticks() - sound.ticks;
    return sound.ns + ticks / sound.frequency * 1000000000u + ticks % sound.frequency * 1000000000u / sound.frequency;
}

uint64_t instr_platform_monotonic_ns(void)
{
    return instr_rtems_dying ? dying_ns() : (last_ns = rtems_clock_get_uptime_nanoseconds());
}

uint64_t instr_platform_realtime_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if INSTR_RTEMS_HAS_ASR
static uint64_t up_count(void)
{
    uint32_t high = instr_arch_ticks_high();
    for (;;) {
        const uint32_t low = instr_arch_ticks_low();
        const uint32_t again = instr_arch_ticks_high();
        if (again == high)
            return (uint64_t)high << 32 | low;
        high = again;
    }
}

/* Whether it is there and runs; some processors without it read 0. */
static bool has_up_counter(void)
{
    const uint32_t before = instr_arch_asr23();
    for (unsigned i = 0; i < 16; i++)
        if (instr_arch_asr23() != before)
            return true;
    return false;
}
#else
static uint64_t up_count(void)
{
    return 0;
}

static bool has_up_counter(void)
{
    return false;
}
#endif

static uint64_t extended_count(void)
{
    rtems_interrupt_level level;
    uint32_t now;
    uint32_t seen;
    rtems_interrupt_local_disable(level); /* between reading and storing lies less than half a turn of the counter */
    now = (uint32_t)rtems_counter_read();
    seen = halves;
    if (((seen ^ now >> 31) & 1u) != 0)
        halves = ++seen;
    rtems_interrupt_local_enable(level);
    return (uint64_t)(seen >> 1) << 32 | now;
}

uint64_t instr_rtems_ticks(void)
{
    return instr_rtems_up_counter ? up_count() : extended_count();
}

const char *instr_rtems_ticks_name(void)
{
    return instr_rtems_up_counter ? "asr22/asr23" : "rtems_counter";
}

/* Looks at the counter often enough that no turn is missed. */
static void refresh(rtems_id timer, void *period)
{
    (void)extended_count();
    (void)rtems_timer_fire_after(timer, (rtems_interval)(uintptr_t)period, refresh, period);
}

static void be_sound(uint32_t frequency)
{
    sound.ticks = instr_rtems_ticks();
    sound.ns = rtems_clock_get_uptime_nanoseconds();
    sound.frequency = frequency;
}

bool instr_platform_ticks_ok(void)
{
    rtems_id timer;
    const uint64_t frequency = rtems_counter_frequency(); /* of the up-counter, where there is one */
    instr_rtems_up_counter = has_up_counter();
    if (instr_rtems_up_counter) {
        be_sound((uint32_t)frequency);
        return true;
    }
    if (frequency == 0 || rtems_timer_create(rtems_build_name('I', 'N', 'S', 'C'), &timer) != RTEMS_SUCCESSFUL)
        return false;
    uint64_t period = (UINT64_C(1) << 30) * rtems_clock_get_ticks_per_second() / frequency;
    period = period == 0 ? 1 : period > 0x7fffffffu ? 0x7fffffffu : period;
    halves = (uint32_t)rtems_counter_read() >> 31;
    be_sound((uint32_t)frequency);
    return rtems_timer_fire_after(timer, (rtems_interval)period, refresh, (void *)(uintptr_t)period) == RTEMS_SUCCESSFUL;
}

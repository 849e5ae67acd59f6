/*
 * The sensors of LEON systems under RTEMS, and the clock-tick timer that reads sensors on a period.
 *
 * GR740THS, the temperature sensor of the GR740 (User's Manual, "Temperature sensor"): how its number becomes degrees differs from chip
 * to chip, so the number is recorded, and the target's description says what it means.
 */
#define _GNU_SOURCE

#include "core/cold.h"

#include "platform/rtems/sensors.h"

#include <rtems.h>

#if defined(__sparc__) || defined(INSTR_BOARD_IO)
#include <grlib/ambapp.h>
#define HAS_PLUG_AND_PLAY 1
#if defined(__RTEMS_MAJOR__) && __RTEMS_MAJOR__ < 6
extern struct ambapp_bus ambapp_plb; /* <amba.h> */
#define PLUG_AND_PLAY (&ambapp_plb)
#else
#define PLUG_AND_PLAY ambapp_plb()
#endif
#else
#define HAS_PLUG_AND_PLAY 0
#endif

#include "core/process.h"
#include "core/record.h"
#include "platform/rtems/io.h"
#include "sensors/sensors.h"

uintptr_t instr_rtems_device(int device)
{
#if HAS_PLUG_AND_PLAY
    enum { GAISLER = 0x01 };
    struct ambapp_bus *const bus = PLUG_AND_PLAY;
    if (bus == NULL)
        return 0;
    struct ambapp_dev *const found =
        (struct ambapp_dev *)(uintptr_t)ambapp_for_each(bus, OPTIONS_ALL | OPTIONS_APB_SLVS, GAISLER, device, ambapp_find_by_idx, NULL);
    return found != NULL ? (uintptr_t)DEV_TO_APB(found)->start : 0;
#else
    (void)device;
    return 0;
#endif
}

/* ---- temperature ---- */

enum { THS_CONTROL = 0, THS_STATUS = 4 };
#define CONTROL_CLOCK 0x001u  /* CLKEN */
#define CONTROL_RUN 0x002u    /* SRSTN: not in reset */
#define CONTROL_POWER 0x080u  /* PDN */
#define STATUS_DATA 0x07fu
#define STATUS_ALARM 0x100u   /* ALACT */
#define STATUS_UPDATED 0x200u /* UPD */

/* The divider and the correction stay as the boot loader set them. */
static const char *begin_temperature(struct instr_sensor *s)
{
    const uint32_t old = instr_io_read(s->place + THS_CONTROL);
    instr_io_write(s->place + THS_CONTROL, (old & ~CONTROL_POWER) | CONTROL_CLOCK | CONTROL_RUN);
    if ((instr_io_read(s->place + THS_CONTROL) & CONTROL_RUN) == 0)
        return "it cannot be started: is its clock gated?";
    return NULL;
}

static int read_temperature(struct instr_sensor *s, int64_t *values)
{
    const uint32_t status = instr_io_read(s->place + THS_STATUS);
    if ((status & (STATUS_DATA | STATUS_UPDATED)) == 0)
        return -1; /* the first conversion is not done yet */
    values[0] = status & STATUS_DATA;
    values[1] = status >> 16 & STATUS_DATA;
    values[2] = status >> 24 & STATUS_DATA;
    values[3] = (status & STATUS_ALARM) != 0;
    return 0;
}

static struct instr_sensor temperature = {
    .name = "gr740/temperature",
    .unit = "raw",
    .labels = "now,min,max,alarm",
    .source = "GR740THS",
    .values = 4,
    .init = begin_temperature,
    .read = read_temperature,
};

void instr_sensors_discover(void)
{
    enum { GR740THS = 0x099 };
    instr_rtems_l4stat();
    if (!instr_sensor_family_wanted("gr740"))
        return;
    temperature.place = instr_rtems_device(GR740THS);
    if (temperature.place != 0)
        (void)instr_sensor_offer(&temperature);
    else
        instr_sensor_missing("gr740/temperature", "there is no GR740THS on the plug&play bus");
}

/* ---- on a period ---- */

/* Readings have a stream of their own: nothing else is recorded there, so that a timer may write at any moment. */
static struct {
    struct instr_thread *stream;
    rtems_id timer;
    rtems_interval ticks;
    volatile bool on;
} period;

static void fire(rtems_id timer, void *unused)
{
    if (!period.on)
        return;
    instr_sensors_read(period.stream, INSTR_AT_PERIOD);
    (void)rtems_timer_fire_after(timer, period.ticks, fire, unused);
}

const char *instr_sensors_period_begin(uint64_t period_ns)
{
    const uint64_t ticks = (period_ns / 1000u * rtems_clock_get_ticks_per_second() + 999999u) / 1000000u;
    period.ticks = ticks == 0 ? 1 : ticks < 0x7fffffffu ? (rtems_interval)ticks : 0x7fffffffu;
    period.stream = instr_attach_stream(0, INSTR_THREAD_OWN);
    if (period.stream == NULL)
        return "there is no memory for its window";
    if (rtems_timer_create(rtems_build_name('I', 'N', 'S', 'S'), &period.timer) != RTEMS_SUCCESSFUL)
        return "there is no timer: see CONFIGURE_MAXIMUM_TIMERS";
    period.on = true;
    if (rtems_timer_fire_after(period.timer, period.ticks, fire, NULL) != RTEMS_SUCCESSFUL)
        return "the timer does not start";
    return NULL;
}

void instr_sensors_period_end(void)
{
    period.on = false;
    (void)rtems_timer_cancel(period.timer);
}

/* ---- counters of threads: the processors have none that count for one thread ---- */

bool instr_counters_begin(void)
{
    return false;
}

void instr_counters_describe(instr_sensor_line *line)
{
    (void)line;
}

void instr_counters_open(struct instr_thread *t)
{
    (void)t;
}

void instr_counters_read(struct instr_thread *t)
{
    (void)t;
}

void instr_counters_close(struct instr_thread *t)
{
    (void)t;
}

void instr_counters_forked(void)
{
}

/*
 * Sampling by clock ticks: one timer on each processor, whose routine runs in the interrupt of that processor's clock and so in place of
 * the thread that is interrupted, with its thread-local storage. Nothing here waits, and nothing is handed to a sink.
 */
#define _GNU_SOURCE
#include "core/cold.h"

#include "platform/rtems/system.h"

#include <rtems.h>
#include <rtems/score/percpu.h>
#include <rtems/score/sysstate.h>
#include <rtems/score/thread.h>

#include "core/process.h"
#include "core/record.h"
#include "core/settings.h"
#include "platform/platform.h"
#include "sampling/sampling.h"
#include "sensors/sensors.h"

#if defined(__sparc__)
#include <rtems/score/cpu.h>
#endif

static struct {
    rtems_id timers[INSTR_CFG_PROCESSORS];
    uint32_t count;
    rtems_interval ticks;
    volatile bool on;
} sampling;

#if defined(__sparc__)
#define CAN_SAMPLE 1
#define MOST_FRAMES 64u /* of an interrupt, far more than there are */
#define SAVED_FRAME 14u /* %i6 in a window's save area (System V ABI, SPARC supplement, 3-13) */

/*
 * The interrupt has saved what it interrupted on the thread's own stack before it went over to its own (cpu_asm.S): the first frame in the
 * thread's stack is a CPU_Interrupt_frame, whose i6_fp is the %sp of the interrupted function and i7 its %o7. The interrupted window's own
 * save area is the beginning of that frame, and not at its %sp: the trap's window has the frame as its %fp, where windows are flushed to.
 */
static bool find_interrupted(struct instr_interrupted *at)
{
    const struct _Thread_Control *thread = _Thread_Get_executing();
    const uintptr_t low = (uintptr_t)thread->Start.Initial_stack.area;
    const uintptr_t high = low + thread->Start.Initial_stack.size;
    instr_arch_flush_windows();
    uintptr_t frame = instr_arch_frame_pointer();
    for (unsigned i = 0; i < MOST_FRAMES && frame != 0 && frame % 8 == 0; i++) {
        if (frame >= low && frame < high && high - frame > sizeof(CPU_Interrupt_frame)) {
            const CPU_Interrupt_frame *saved = (const CPU_Interrupt_frame *)frame;
            at->pc = saved->pc;
            at->sp = saved->i6_fp;
            at->frame = frame;
            at->return_to = saved->i7;
            return at->sp > frame && at->sp < high;
        }
        frame = ((const uintptr_t *)frame)[SAVED_FRAME];
    }
    return false;
}
#elif defined(INSTR_BOARD_IO)
#define CAN_SAMPLE 1
bool board_interrupted(uintptr_t *pc, uintptr_t *sp, uintptr_t *frame);

static bool find_interrupted(struct instr_interrupted *at)
{
    return board_interrupted(&at->pc, &at->sp, &at->frame);
}
#else
#define CAN_SAMPLE 0
static bool find_interrupted(struct instr_interrupted *at)
{
    (void)at;
    return false;
}
#endif

/* Of the sensors' readings that follow a sample. */
static size_t sensor_words(void)
{
    size_t words = 0;
    if ((instr_process.points & INSTR_AT_SAMPLE) != 0)
        for (uint32_t i = 0; i < instr_sensor_count; i++)
            words += 8u + 2u * instr_sensors[i]->values;
    return words;
}

/* Whether there is room for a sample that waited, one of now, a word about losses, and readings of sensors. */
static bool has_room(const struct instr_thread *t)
{
    const size_t addresses = INSTR_SAMPLE_KEPT + INSTR_SAMPLE_REGISTERS + 4u + instr_settings.sampling_depth;
    const size_t words = 16u + addresses * INSTR_ADDR_WORDS + sensor_words();
    return (size_t)(t->slot_end - t->cursor) >= 4u * words + instr_settings.sampling_stack;
}

static void fire(rtems_id timer, void *unused)
{
    struct instr_thread *t = instr_self;
    struct instr_interrupted at = {0};
    if (!sampling.on)
        return;
    (void)rtems_timer_fire_after(timer, sampling.ticks, fire, unused);
    if (t == NULL || t->sampling.armed == 0 || !find_interrupted(&at))
        return;
    /* A full window would be handed over here, in an interrupt: the thread does that, with its next event. */
    if (instr_settings.policy == INSTR_POLICY_STREAM && !instr_is_busy(t->limit) && !has_room(t))
        t->sampling.lost++;
    else
        instr_sampling_take(&at, 1);
}

/* On the processor that is to be sampled: a timer belongs to the one that created it. */
static bool arm(void)
{
    rtems_id *timer = &sampling.timers[sampling.count];
    if (rtems_timer_create(rtems_build_name('I', 'N', 'S', 'P'), timer) != RTEMS_SUCCESSFUL)
        return false;
    sampling.count++;
    return rtems_timer_fire_after(*timer, sampling.ticks, fire, NULL) == RTEMS_SUCCESSFUL;
}

static bool arm_on(uint32_t processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((int)processor, &one);
    return rtems_task_set_affinity(RTEMS_SELF, sizeof one, &one) == RTEMS_SUCCESSFUL && instr_rtems_processor() == processor && arm();
}

/* Of linker scripts: RTEMS' own, and the linkers'. */
extern const char _text_start[] __attribute__((weak));
extern const char __executable_start[] __attribute__((weak));
extern const char etext[] __attribute__((weak));

const char *instr_platform_sampling_begin(const char *name)
{
    cpu_set_t before;
    const uint32_t per_second = rtems_clock_get_ticks_per_second();
    const uint32_t processors = rtems_scheduler_get_processor_maximum();
    uint32_t armed = 0;
    (void)name;
    if (etext != NULL) /* where memory begins at 0, so does the code */
        instr_sampling_code((uintptr_t)(__executable_start != NULL ? __executable_start : _text_start), (uintptr_t)etext);
    if (!CAN_SAMPLE || per_second == 0 || !_System_state_Is_up(_System_state_Get()))
        return "INSTR_SAMPLING_PERIOD: not on this processor; there are no samples";
    const uint64_t ticks = (instr_settings.sampling_ns / 1000u * per_second + 500000u) / 1000000u;
    sampling.ticks = ticks == 0 ? 1 : ticks < 0x7fffffffu ? (rtems_interval)ticks : 0x7fffffffu;
    instr_settings.sampling_ns = (uint64_t)sampling.ticks * 1000000000u / per_second;
    sampling.on = true;
    if (processors == 1) {
        armed = arm();
    } else if (rtems_task_get_affinity(RTEMS_SELF, sizeof before, &before) == RTEMS_SUCCESSFUL) {
        for (uint32_t i = 0; i < processors && i < INSTR_CFG_PROCESSORS; i++)
            armed += arm_on(i);
        (void)rtems_task_set_affinity(RTEMS_SELF, sizeof before, &before);
    }
    if (armed == 0)
        return "INSTR_SAMPLING_PERIOD: no timer (CONFIGURE_MAXIMUM_TIMERS), or no affinity of threads; there are no samples";
    if (armed < processors && instr_settings.trouble == NULL)
        instr_settings.trouble = "INSTR_SAMPLING_PERIOD: too few timers (CONFIGURE_MAXIMUM_TIMERS): not all processors are sampled";
    return NULL;
}

/* The timers are those of the processors. */
bool instr_platform_sampling_thread(uint64_t period_ns, uint32_t *clock, struct instr_sampling *thread, uint32_t *signal)
{
    (void)period_ns;
    if (*clock == INSTR_SAMPLING_TASK)
        *clock = INSTR_SAMPLING_CPU;
    thread->timer = -1;
    *signal = 0;
    return sampling.on;
}

bool instr_platform_sampling_stop(const struct instr_sampling *thread)
{
    (void)thread;
    return true;
}

void instr_platform_sampling_end(void)
{
    sampling.on = false;
    for (uint32_t i = 0; i < sampling.count; i++)
        (void)rtems_timer_cancel(sampling.timers[i]);
    sampling.count = 0;
}

/* Context switches of RTEMS: a stream for each processor, written with interrupts off. */
#include "platform/rtems/system.h"

#include <rtems.h>
#include <rtems/score/percpu.h>
#include <rtems/score/thread.h>

#include "core/process.h"
#include "core/record.h"
#include "core/settings.h"

static struct instr_thread *streams[INSTR_CFG_PROCESSORS];

static void put(uint32_t processor, const struct _Thread_Control *executing, const struct _Thread_Control *heir)
{
    struct instr_thread *t = streams[processor];
    if (t == NULL && executing != heir && instr_process.active != INSTR_OFF)
        instr_lose_unattached();
    if (t != NULL)
        instr_event3(t, INSTR_EV_THREAD_SWITCH, processor, executing->Object.id, heir->Object.id);
}

/* Before the extension is there: nobody else writes to these streams yet. Who runs is told as a switch of a thread to itself. */
void instr_rtems_switches_begin(void)
{
    const uint32_t count = rtems_scheduler_get_processor_maximum();
    for (uint32_t i = 0; i < count && i < INSTR_CFG_PROCESSORS; i++) {
        const struct _Thread_Control *runs = _Per_CPU_Get_by_index(i)->executing;
        streams[i] = instr_attach_stream(i, INSTR_THREAD_PROCESSOR);
        if (streams[i] == NULL && instr_settings.trouble == NULL)
            instr_settings.trouble = "no memory for the context switches of all processors: see the size of the pool";
        if (runs != NULL)
            put(i, runs, runs);
    }
}

void instr_rtems_switched(struct _Thread_Control *executing, struct _Thread_Control *heir)
{
    const uint32_t processor = instr_rtems_processor();
    if (processor < INSTR_CFG_PROCESSORS)
        put(processor, executing, heir);
}

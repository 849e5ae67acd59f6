/* Context switches of RTEMS: a stream for each processor, written with interrupts off. */
#include "platform/rtems.h"

#include <rtems.h>
#include <rtems/score/thread.h>

#include "core/process.h"
#include "core/record.h"

static struct instr_thread *streams[INSTR_CFG_PROCESSORS];

void instr_rtems_switches_begin(void)
{
    const uint32_t count = rtems_scheduler_get_processor_maximum();
    for (uint32_t i = 0; i < count && i < INSTR_CFG_PROCESSORS; i++)
        streams[i] = instr_attach_stream(i, INSTR_THREAD_PROCESSOR);
}

void instr_rtems_switched(struct _Thread_Control *executing, struct _Thread_Control *heir)
{
    const uint32_t processor = instr_rtems_processor();
    struct instr_thread *t = processor < INSTR_CFG_PROCESSORS ? streams[processor] : NULL;
    struct instr_slot s;
    uint32_t *p;
    if (t != NULL && (p = instr_open(t, &s, INSTR_EV_THREAD_SWITCH, 3)) != NULL) {
        instr_put32(instr_put32(instr_put32(p, processor), executing->Object.id), heir->Object.id);
        instr_close(&s);
    }
}

/* What the files of the RTEMS platform share. */
#ifndef INSTR_PLATFORM_RTEMS_SYSTEM_H
#define INSTR_PLATFORM_RTEMS_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include <rtems.h>

/* The system is dying: nothing may wait, and only polled output works. */
extern volatile bool instr_rtems_dying;

/* Begins to record the switches of every processor. */
void instr_rtems_switches_begin(void);

/* The thread_switch extension (platform/rtems/switch.c); called with interrupts off, on the processor that switches. */
void instr_rtems_switched(struct _Thread_Control *executing, struct _Thread_Control *heir);

#endif

/* The sensors of LEON systems, found by plug&play; and the timer that reads them. */
#ifndef INSTR_PLATFORM_RTEMS_SENSORS_H
#define INSTR_PLATFORM_RTEMS_SENSORS_H

#include <stdint.h>

/* Address of the registers of the first such device of Cobham Gaisler's on the peripheral bus, 0: there is none. */
uintptr_t instr_rtems_device(int device);

/* Offers the statistics unit (platform/rtems/l4stat.c). */
void instr_rtems_l4stat(void);

#endif

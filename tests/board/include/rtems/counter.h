/* rtems/counter.h: the CPU counter, 32 bits. */
#ifndef BOARD_COUNTER_H
#define BOARD_COUNTER_H
#include <stdint.h>
typedef uint32_t rtems_counter_ticks;
rtems_counter_ticks rtems_counter_read(void);
uint32_t rtems_counter_frequency(void);
#endif

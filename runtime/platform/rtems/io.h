/* Device registers. A board that is emulated in memory gives its own accesses: reading a register may change it. */
#ifndef INSTR_PLATFORM_RTEMS_IO_H
#define INSTR_PLATFORM_RTEMS_IO_H

#include <stdint.h>

#include <rtems.h>

#ifdef INSTR_BOARD_IO
uint32_t board_read(uintptr_t address);
void board_write(uintptr_t address, uint32_t value);
#define instr_io_read board_read
#define instr_io_write board_write

static inline void instr_io_count(uint32_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); /* threads there share what is a processor here */
}
#else
/* A counter of this processor's own. */
static inline void instr_io_count(uint32_t *counter)
{
    rtems_interrupt_level level;
    rtems_interrupt_local_disable(level);
    ++*counter;
    rtems_interrupt_local_enable(level);
}


static inline uint32_t instr_io_read(uintptr_t address)
{
    return *(volatile const uint32_t *)address;
}

static inline void instr_io_write(uintptr_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}
#endif

#endif

/* Device registers. A board that is emulated in memory gives its own accesses: reading a register may change it. */
#ifndef INSTR_PLATFORM_RTEMS_IO_H
#define INSTR_PLATFORM_RTEMS_IO_H

#include <stdint.h>

#ifdef INSTR_BOARD_IO
uint32_t board_read(uintptr_t address);
void board_write(uintptr_t address, uint32_t value);
#define instr_io_read board_read
#define instr_io_write board_write
#else
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

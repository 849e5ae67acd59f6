/* rtems/score/cpu.h of SPARC: what an interrupt saves on the stack of what it interrupts. */
#ifndef BOARD_CPU_H
#define BOARD_CPU_H
#include <stdint.h>
typedef struct {
    uint32_t Stack_frame[24];
    uint32_t psr;
    uint32_t pc;
    uint32_t npc;
    uint32_t g1;
    uint32_t g2;
    uint32_t g3;
    uint32_t g4;
    uint32_t g5;
    uint32_t reserved_for_alignment;
    uint32_t g7;
    uint32_t i0;
    uint32_t i1;
    uint32_t i2;
    uint32_t i3;
    uint32_t i4;
    uint32_t i5;
    uint32_t i6_fp;
    uint32_t i7;
    uint32_t y;
    uint32_t tpc;
} CPU_Interrupt_frame;
#endif

/*
 * A board that is not there: the services of RTEMS (include/) on a system with POSIX threads, with the peculiarities of the real one.
 * Its CPU counter wraps soon after the start, its threads migrate, its processors switch all the time, and a write() of more than 8192
 * bytes fails as on NFS version 2.
 *
 *   BOARD_CONSOLE=FILE   polled output goes there (default: nowhere)
 *   BOARD_IMAGE=FILE     the pool of windows is written there at the end, as a debugger would
 *   BOARD_REPORT=FILE    what the board did, for comparison with the trace: lines of words
 *   BOARD_NOISE=1        other messages on the console, between the lines of others
 *   BOARD_FATAL=exit     the program ends by a fatal error in place of atexit handlers; =N: N clock ticks after four threads record. The
 *                        extension of <instr/rtems.h> is then called, the image is written, and the board stops with status 3
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rtems.h>

#define BOARD_PROCESSORS 4u
#define BOARD_HZ 250000000u
#define BOARD_TICKS_PER_SECOND 1000u
#define BOARD_WRITE_MAX 8192u

/* board.c: the calling thread's, or the interrupted one's; 0: none of the program's. */
rtems_id board_thread_id(void);

/* interrupts.c */
struct _Thread_Control;
void board_thread_begins(struct _Thread_Control *thread, uint32_t number);
void board_thread_ends(struct _Thread_Control *thread);
/* Interrupts the thread, where the routine is called; false: it does not run. */
bool board_interrupt(struct _Thread_Control *thread, rtems_timer_service_routine_entry routine, rtems_id timer, void *data);
void board_interrupts_block(bool block);
extern __thread bool board_in_interrupt;
void board_interrupts_report(FILE *to);

/* devices.c */
void board_devices_tick(uint64_t tick);
void board_devices_report(FILE *to);

#endif

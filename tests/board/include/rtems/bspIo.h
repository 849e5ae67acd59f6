/* rtems/bspIo.h: polled output of one character. */
#ifndef BOARD_BSPIO_H
#define BOARD_BSPIO_H
void rtems_putc(char c);
#endif

/* rtems/malloc.h: the heap of malloc(). */
#ifndef BOARD_MALLOC_H
#define BOARD_MALLOC_H
#include <rtems/score/heap.h>
extern Heap_Control *RTEMS_Malloc_Heap;
#endif

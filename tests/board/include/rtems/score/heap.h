/* rtems/score/heap.h and heapinfo.h: the part of a heap that tells its bounds and use. */
#ifndef BOARD_HEAP_H
#define BOARD_HEAP_H
#include <stdint.h>
typedef struct {
    uint64_t lifetime_allocated;
    uint64_t lifetime_freed;
    uintptr_t size;
    uintptr_t free_size;
    uintptr_t min_free_size;
} Heap_Statistics;
typedef struct Heap_Control {
    uintptr_t page_size;
    uintptr_t min_block_size;
    uintptr_t area_begin;
    uintptr_t area_end;
    Heap_Statistics stats;
} Heap_Control;
#endif

/* rtems/score/percpu.h: the executing threads of this and of other processors. */
#ifndef BOARD_PERCPU_H
#define BOARD_PERCPU_H
#include <stdint.h>
struct _Thread_Control;
struct _Thread_Control *_Thread_Get_executing(void);
typedef struct Per_CPU_Control {
    struct _Thread_Control *executing;
} Per_CPU_Control;
Per_CPU_Control *_Per_CPU_Get_by_index(uint32_t index);
#endif

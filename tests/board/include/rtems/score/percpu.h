/* rtems/score/percpu.h: the executing thread of this processor. */
#ifndef BOARD_PERCPU_H
#define BOARD_PERCPU_H
struct _Thread_Control;
struct _Thread_Control *_Thread_Get_executing(void);
#endif

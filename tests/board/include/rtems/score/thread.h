/* rtems/score/thread.h, object.h and stack.h: the members of a thread's control block that the runtime reads. */
#ifndef BOARD_THREAD_H
#define BOARD_THREAD_H
#include <pthread.h>
#include <rtems.h>
#include <stdatomic.h>
#include <stddef.h>
typedef struct {
    Objects_Id id;
} Objects_Control;
typedef struct {
    size_t size;
    void *area;
} Stack_Control;
typedef struct {
    Stack_Control Initial_stack;
} Thread_Start_information;
struct _Thread_Control {
    Objects_Control Object;
    Thread_Start_information Start;
    /* The board's own. */
    uint32_t processor;
    pthread_t host;
    atomic_bool alive;
    atomic_bool pending; /* an interrupt, of this timer */
    rtems_timer_service_routine_entry routine;
    rtems_id timer;
    void *data;
};
typedef struct _Thread_Control Thread_Control;
#endif

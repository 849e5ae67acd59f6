/* rtems/thread.h: mutexes that need no configuration, with priority inheritance there. */
#ifndef BOARD_RTEMS_THREAD_H
#define BOARD_RTEMS_THREAD_H
#include <pthread.h>
typedef struct {
    const char *name;
    pthread_mutex_t host;
} rtems_mutex;
#define RTEMS_MUTEX_INITIALIZER(name) {(name), PTHREAD_MUTEX_INITIALIZER}
void rtems_mutex_lock(rtems_mutex *mutex);
void rtems_mutex_unlock(rtems_mutex *mutex);
#endif

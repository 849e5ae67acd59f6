/*
 * The services of RTEMS that the runtime uses, declared as RTEMS 6.2 does and provided by board.c on another system. The comment in
 * front of each group names the header of RTEMS (cpukit/include) that it mirrors; types, names and arguments are the same there.
 */
#ifndef BOARD_RTEMS_H
#define BOARD_RTEMS_H

#include <sched.h> /* cpu_set_t; there: sys/cpuset.h */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rtems/rtems/types.h, rtems/score/object.h, rtems/rtems/status.h */
typedef uint32_t Objects_Id;
typedef Objects_Id rtems_id;
typedef uint32_t rtems_name;
typedef uint32_t rtems_interval;
typedef enum { RTEMS_SUCCESSFUL = 0, RTEMS_TOO_MANY = 5, RTEMS_INVALID_ID = 4 } rtems_status_code;
#define rtems_build_name(c1, c2, c3, c4) ((uint32_t)(uint8_t)(c1) << 24 | (uint32_t)(uint8_t)(c2) << 16 | (uint32_t)(uint8_t)(c3) << 8 | (uint8_t)(c4))

/* rtems/rtems/tasks.h */
rtems_id rtems_task_self(void);
rtems_status_code rtems_task_wake_after(rtems_interval ticks);
#define RTEMS_SELF ((rtems_id)0)
rtems_status_code rtems_task_get_affinity(rtems_id id, size_t cpusetsize, cpu_set_t *cpuset);
rtems_status_code rtems_task_set_affinity(rtems_id id, size_t cpusetsize, const cpu_set_t *cpuset);

/* rtems/rtems/scheduler.h */
uint32_t rtems_scheduler_get_processor(void);
uint32_t rtems_scheduler_get_processor_maximum(void);

/* rtems/rtems/clock.h */
uint64_t rtems_clock_get_uptime_nanoseconds(void);
rtems_interval rtems_clock_get_ticks_per_second(void);

/* rtems/rtems/intr.h */
typedef uint32_t rtems_interrupt_level;
uint32_t board_interrupts_off(void);
void board_interrupts_on(uint32_t level);
#define rtems_interrupt_local_disable(cookie) ((cookie) = board_interrupts_off())
#define rtems_interrupt_local_enable(cookie) board_interrupts_on(cookie)
bool board_is_in_interrupt(void);
#define rtems_interrupt_is_in_progress() board_is_in_interrupt()

/* rtems/rtems/timer.h */
typedef void rtems_timer_service_routine;
typedef rtems_timer_service_routine (*rtems_timer_service_routine_entry)(rtems_id, void *);
rtems_status_code rtems_timer_create(rtems_name name, rtems_id *id);
rtems_status_code rtems_timer_fire_after(rtems_id id, rtems_interval ticks, rtems_timer_service_routine_entry routine, void *user_data);
rtems_status_code rtems_timer_cancel(rtems_id id);

/* rtems/score/interr.h, rtems/fatal.h */
typedef enum { INTERNAL_ERROR_CORE, RTEMS_FATAL_SOURCE_EXIT = 5, RTEMS_FATAL_SOURCE_EXCEPTION = 9 } Internal_errors_Source;
typedef uintptr_t Internal_errors_t;
typedef Internal_errors_Source rtems_fatal_source;
typedef Internal_errors_t rtems_fatal_code;

/* rtems/score/userext.h, rtems/extension.h */
struct _Thread_Control;
typedef struct {
    bool (*thread_create)(struct _Thread_Control *, struct _Thread_Control *);
    void (*thread_start)(struct _Thread_Control *, struct _Thread_Control *);
    void (*thread_restart)(struct _Thread_Control *, struct _Thread_Control *);
    void (*thread_delete)(struct _Thread_Control *, struct _Thread_Control *);
    void (*thread_switch)(struct _Thread_Control *, struct _Thread_Control *);
    void (*thread_begin)(struct _Thread_Control *);
    void (*thread_exitted)(struct _Thread_Control *);
    void (*fatal)(Internal_errors_Source, bool, Internal_errors_t);
    void (*thread_terminate)(struct _Thread_Control *);
} User_extensions_Table;
typedef User_extensions_Table rtems_extensions_table;
rtems_status_code rtems_extension_create(rtems_name name, const rtems_extensions_table *extension_table, rtems_id *id);

#endif

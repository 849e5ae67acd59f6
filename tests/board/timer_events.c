/* Timer routines record events: in threads that record, in threads that never did, and while others are being attached. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include <rtems.h>

#include <instr/instr.h>

#define QUIET 3
#define BRIEF 30 /* pairs of threads at least */
#define MOST 100

static atomic_uint fired;
static atomic_bool stop;

static rtems_timer_service_routine tick(rtems_id timer, void *unused)
{
    if (atomic_load(&stop))
        return;
    instr_event(900, atomic_fetch_add(&fired, 1));
    (void)rtems_timer_fire_after(timer, 1, tick, unused);
}

static void *quiet(void *unused)
{
    rtems_id timer;
    (void)rtems_task_self();
    if (rtems_timer_create(rtems_build_name('T', 'I', 'C', 'K'), &timer) == RTEMS_SUCCESSFUL)
        (void)rtems_timer_fire_after(timer, 1, tick, unused);
    while (!atomic_load(&stop))
        ;
    return NULL;
}

static void *brief(void *unused)
{
    instr_event(903, 0);
    return unused;
}

int main(void)
{
    pthread_t threads[QUIET];
    for (int i = 0; i < QUIET; i++)
        if (pthread_create(&threads[i], NULL, quiet, NULL) != 0)
            return 1;
    int pairs = 0;
    for (; pairs < BRIEF || (atomic_load(&fired) < 40 && pairs < MOST); pairs++) {
        pthread_t two[2];
        for (int k = 0; k < 2; k++)
            if (pthread_create(&two[k], NULL, brief, NULL) != 0)
                return 1;
        for (int k = 0; k < 2; k++)
            pthread_join(two[k], NULL);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < QUIET; i++)
        pthread_join(threads[i], NULL);
    printf("%u %d\n", atomic_load(&fired), 2 * pairs);
    return 0;
}

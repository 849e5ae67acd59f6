/* The ends of work-sharing constructs: with a barrier, without, and with a barrier that cancellation may leave. */
#ifndef INSTR_WORK_END_H
#define INSTR_WORK_END_H

#include "core/record.h"

static inline struct instr_thread *instr_wait_begin(unsigned kind)
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event1(t, INSTR_EV_SYNC_BEGIN, kind);
    return t;
}

static inline void instr_wait_end(struct instr_thread *t, unsigned kind)
{
    if (t != NULL)
        instr_event1(t, INSTR_EV_SYNC_END, kind);
}

static inline void instr_work_end_barrier(void (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event1_pair(t, INSTR_EV_WORK_END, 0, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_WORK_BARRIER);
    real();
    instr_wait_end(t, INSTR_SYNC_WORK_BARRIER);
}

static inline bool instr_work_end_cancel(bool (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event1_pair(t, INSTR_EV_WORK_END, 0, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_WORK_BARRIER);
    const bool cancelled = real();
    instr_wait_end(t, INSTR_SYNC_WORK_BARRIER);
    return cancelled;
}

static inline void instr_work_end_nowait(void (*real)(void))
{
    struct instr_thread *t = instr_thread();
    if (t != NULL)
        instr_event1(t, INSTR_EV_WORK_END, 1);
    real();
}

#endif

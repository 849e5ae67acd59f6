/*
 * Barriers, taskwait, taskgroup, reductions.
 *
 * A barrier's kind is not always told. Until libomp 16 the closing barrier of a region and that of a work-sharing construct are both
 * "implicit": the closing one has no return address on workers and the region's own on the encountering thread. "Implementation"
 * barriers are the barriers of GCC's code, and in Clang's code those of copyprivate and of reductions; what the thread did just
 * before tells which.
 */
#include "ompt/state.h"

/* How a barrier is recorded; 0: it closes the region. */
static unsigned barrier_kind(const struct instr_ompt_state *state, const struct instr_ompt_level *level, int kind, const void *site)
{
    switch (kind) {
    case OMPT_SYNC_IMPLICIT_PARALLEL:
    case OMPT_SYNC_TEAMS:
        return 0;
    case OMPT_SYNC_BARRIER_IMPLICIT:
        return site == NULL || (state->level > 0 && site == level->site) ? 0 : INSTR_SYNC_WORK_BARRIER;
    case OMPT_SYNC_IMPLICIT_WORKSHARE:
        return INSTR_SYNC_WORK_BARRIER;
    case OMPT_SYNC_BARRIER_IMPLEMENTATION:
        if (level->gnu)
            return state->after == INSTR_OMPT_AFTER_WORK && state->after_site == site ? INSTR_SYNC_WORK_BARRIER : INSTR_SYNC_BARRIER;
        return state->after == INSTR_OMPT_AFTER_SINGLE ? INSTR_SYNC_COPYPRIVATE : INSTR_SYNC_REDUCTION;
    default:
        return INSTR_SYNC_BARRIER;
    }
}

static void barrier(struct instr_thread *t, int kind, int endpoint, const ompt_data_t *region, const void *site)
{
    struct instr_ompt_state *state = instr_ompt_state(t);
    struct instr_ompt_level *level = instr_ompt_level(state);
    if (endpoint != OMPT_SCOPE_BEGIN) {
        /* The closing barrier's end no longer has a region. */
        if (region != NULL && level->barrier != 0) {
            instr_event1(t, INSTR_EV_SYNC_END, level->barrier);
            level->barrier = 0;
        }
        return;
    }
    level->barrier = (uint8_t)barrier_kind(state, level, kind, site);
    if (level->barrier == 0)
        instr_ompt_body_ended(t, level);
    else
        instr_event1(t, INSTR_EV_SYNC_BEGIN, level->barrier);
    if (level->barrier != INSTR_SYNC_COPYPRIVATE) /* copyprivate has two of them */
        state->after = INSTR_OMPT_AFTER_OTHER;
}

void instr_ompt_sync_region(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *site)
{
    (void)task;
    struct instr_thread *t = instr_ompt_is_helpers(site) ? NULL : instr_ompt_enter();
    if (t == NULL)
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    switch (kind) {
    case OMPT_SYNC_TASKWAIT:
        instr_event1(t, endpoint == OMPT_SCOPE_BEGIN ? INSTR_EV_SYNC_BEGIN : INSTR_EV_SYNC_END, INSTR_SYNC_TASKWAIT);
        break;
    case OMPT_SYNC_REDUCTION:
        instr_event1(t, endpoint == OMPT_SCOPE_BEGIN ? INSTR_EV_SYNC_BEGIN : INSTR_EV_SYNC_END, INSTR_SYNC_REDUCTION);
        break;
    case OMPT_SYNC_TASKGROUP:
        if (endpoint == OMPT_SCOPE_BEGIN) {
            instr_event0(t, INSTR_EV_TASKGROUP_BEGIN);
            state->after = INSTR_OMPT_AFTER_TASKGROUP;
            state->after_site = site;
        } else {
            instr_event1(t, INSTR_EV_SYNC_END, INSTR_SYNC_TASKGROUP);
        }
        return;
    default:
        barrier(t, kind, endpoint, region, site);
        return;
    }
    state->after = INSTR_OMPT_AFTER_OTHER;
}

/* A taskgroup's end begins here; everything else that waits has been told by sync_region. */
void instr_ompt_sync_region_wait(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *site)
{
    (void)region;
    (void)task;
    (void)site;
    if (kind != OMPT_SYNC_TASKGROUP || endpoint != OMPT_SCOPE_BEGIN)
        return;
    struct instr_thread *t = instr_ompt_enter();
    if (t != NULL)
        instr_event1(t, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_TASKGROUP);
}

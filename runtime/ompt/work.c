/*
 * Work-sharing constructs. A loop's bounds are not told, only the number of its iterations. Chunks are told by libomp 15 and later, when
 * they are handed out: what libgomp's probes see as the question for the next one is written just before the answer.
 */
#include "ompt/state.h"

static void loop_begin(struct instr_thread *t, uint32_t schedule, uint64_t count)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_LOOP_BEGIN, 9);
    if (p == NULL)
        return;
    p = instr_put64(instr_put32(p, schedule | INSTR_LOOP_COUNTED), 0);
    p = instr_put64(instr_put64(p, count), 1);
    instr_put64(p, 0);
    instr_close(&s);
}

static uint32_t schedule_of(int kind)
{
    switch (kind) {
    case OMPT_WORK_LOOP_STATIC:
        return INSTR_LOOP_STATIC;
    case OMPT_WORK_LOOP_DYNAMIC:
        return INSTR_LOOP_DYNAMIC;
    case OMPT_WORK_LOOP_GUIDED:
        return INSTR_LOOP_GUIDED;
    case OMPT_WORK_DISTRIBUTE:
        return INSTR_LOOP_STATIC | INSTR_LOOP_DISTRIBUTE;
    default:
        return INSTR_LOOP_RUNTIME;
    }
}

static void work_end(struct instr_thread *t, struct instr_ompt_state *state, const void *site)
{
    struct instr_ompt_level *level = instr_ompt_level(state);
    if (level->loop == 2)
        instr_event0(t, INSTR_EV_DISPATCH);
    level->loop = 0;
    instr_event1(t, INSTR_EV_WORK_END, 1); /* whether a barrier follows is not known yet; if so, sync_begin says it */
    state->after = INSTR_OMPT_AFTER_WORK;
    state->after_site = site;
}

/* Of libgomp's flags: the construct itself is no taskgroup. libomp tells of the one around it. */
#define NO_GROUP 0x800u

static void taskloop_begin(struct instr_thread *t, struct instr_ompt_state *state, const ompt_data_t *owner, uint64_t count,
                           const void *site)
{
    /* libomp gives an address of its own; the taskgroup around the construct was told with a better one. */
    if (instr_ompt_in_runtime(site))
        site = state->after == INSTR_OMPT_AFTER_TASKGROUP ? state->after_site : NULL;
    const uint32_t seq = t->next_task++;
    if (state->loops < INSTR_OMPT_LOOPS)
        state->loop[state->loops] = (struct instr_ompt_loop){.owner = owner, .id = instr_ompt_id(t->index, seq)};
    state->loops++;
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_TASKLOOP_BEGIN, 2 + INSTR_ADDR_WORDS + 8);
    if (p == NULL)
        return;
    p = instr_put_addr(instr_put32(p, seq), (uintptr_t)site);
    p = instr_put64(instr_put32(p, INSTR_TASK_FLAG_CALL_SITE | NO_GROUP), 0);
    p = instr_put64(instr_put64(p, 0), count);
    instr_put64(p, 1);
    instr_close(&s);
}

static void taskloop(struct instr_thread *t, int endpoint, const ompt_data_t *task, uint64_t count, const void *site)
{
    struct instr_ompt_state *state = instr_ompt_state(t);
    if (endpoint == OMPT_SCOPE_BEGIN) {
        if (instr_ompt_on())
            taskloop_begin(t, state, task, count, site);
    } else if (state->loops > 0) {
        state->loops--;
        instr_event0(t, INSTR_EV_TASKLOOP_END);
    }
}

static void single(struct instr_thread *t, int endpoint, bool executor)
{
    if (endpoint == OMPT_SCOPE_BEGIN)
        instr_event1(t, INSTR_EV_SINGLE, executor);
    else if (executor)
        instr_event0(t, INSTR_EV_SINGLE_END);
    instr_ompt_state(t)->after = INSTR_OMPT_AFTER_SINGLE;
}

void instr_ompt_work(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, uint64_t count, const void *site)
{
    (void)region;
    struct instr_thread *t = instr_ompt_enter();
    if (t == NULL)
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    const bool begins = endpoint == OMPT_SCOPE_BEGIN;
    switch (kind) {
    case OMPT_WORK_SINGLE_EXECUTOR:
    case OMPT_WORK_SINGLE_OTHER:
        single(t, endpoint, kind == OMPT_WORK_SINGLE_EXECUTOR);
        return;
    case OMPT_WORK_TASKLOOP:
        taskloop(t, endpoint, task, count, site);
        return;
    case OMPT_WORK_WORKSHARE: /* its parts are told as single and loop */
        return;
    case OMPT_WORK_SECTIONS:
        if (begins)
            instr_event1(t, INSTR_EV_SECTIONS_BEGIN, (uint32_t)count);
        break;
    case OMPT_WORK_SCOPE:
        if (begins)
            instr_event0(t, INSTR_EV_SCOPE_BEGIN);
        break;
    default:
        if (begins)
            loop_begin(t, schedule_of(kind), count);
        break;
    }
    if (begins)
        instr_ompt_level(state)->loop = kind == OMPT_WORK_LOOP || kind >= OMPT_WORK_LOOP_DYNAMIC;
    else
        work_end(t, state, site);
}

void instr_ompt_dispatch(ompt_data_t *region, ompt_data_t *task, int kind, ompt_data_t instance)
{
    (void)region;
    (void)task;
    if (kind != OMPT_DISPATCH_WS_LOOP_CHUNK || instance.ptr == NULL)
        return;
    struct instr_thread *t = instr_ompt_enter();
    if (t == NULL)
        return;
    struct instr_ompt_level *level = instr_ompt_level(instr_ompt_state(t));
    if (level->loop == 0) /* a static loop tells its first chunk alone */
        return;
    if (level->loop == 2)
        instr_event0(t, INSTR_EV_DISPATCH);
    level->loop = 2;
    const ompt_dispatch_chunk_t *chunk = instance.ptr;
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_CHUNK_BEGIN, 4);
    if (p == NULL)
        return;
    instr_put64(instr_put64(p, chunk->start), chunk->start + chunk->iterations);
    instr_close(&s);
}

void instr_ompt_masked(int endpoint, ompt_data_t *region, ompt_data_t *task, const void *site)
{
    (void)region;
    (void)task;
    struct instr_thread *t = instr_ompt_is_helpers(site) ? NULL : instr_ompt_enter();
    if (t != NULL)
        instr_event0(t, endpoint == OMPT_SCOPE_BEGIN ? INSTR_EV_MASKED_BEGIN : INSTR_EV_MASKED_END);
}

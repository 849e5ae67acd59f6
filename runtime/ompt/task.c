/*
 * Explicit tasks: creation, depend clauses, scheduling.
 *
 * The task's identity lies in the 64 bits that the OpenMP runtime keeps with it. libomp tells depend clauses right after the creation,
 * on the same thread, and says at the creation whether there are any: task_create is written with them.
 *
 *     task_schedule(prior, status, next)     tied:    begin on top of what runs; complete, back to what lies below
 *                                            untied:  (U, switch, below) leaves this thread, (any, switch, U) goes on
 *
 * task_created, the return of the creating call, is not told. For a deferred task it is written behind task_create; for an undeferred
 * one behind its end.
 */
#include "core/packed.h"
#include "ompt/state.h"

static void event_of_task(struct instr_thread *t, unsigned id, uint64_t task)
{
    instr_event2(t, id, instr_ompt_thread(task), instr_ompt_seq(task));
}

/* ---- creation ---- */

static uint32_t recorded_flags(unsigned told, bool depends)
{
    uint32_t flags = INSTR_TASK_FLAG_CALL_SITE;
    if (told & OMPT_TASK_UNTIED)
        flags |= 1;
    if (told & OMPT_TASK_FINAL)
        flags |= 2;
    if (told & OMPT_TASK_MERGEABLE)
        flags |= 4;
    if (depends)
        flags |= 8;
    if (told & OMPT_TASK_TARGET)
        flags |= INSTR_TASK_FLAG_TARGET;
    if (told & OMPT_TASK_UNDEFERRED)
        flags |= INSTR_TASK_FLAG_UNDEFERRED;
    return flags;
}

/* The taskloop that `task` is creating pieces for on this thread, or NULL. */
static struct instr_ompt_loop *loop_of(struct instr_ompt_state *state, const ompt_data_t *task)
{
    if (state->loops == 0 || state->loops > INSTR_OMPT_LOOPS)
        return NULL;
    struct instr_ompt_loop *loop = &state->loop[state->loops - 1];
    if (loop->owner == NULL) /* a helper task of libomp's creates before anything else happens here */
        loop->owner = task;
    return loop->owner == task ? loop : NULL;
}

void instr_ompt_task_create(ompt_data_t *task, const void *frame, ompt_data_t *created, int flags, int has_depends,
                            const void *site)
{
    (void)frame;
    struct instr_thread *t = instr_ompt_enter();
    const unsigned told = (unsigned)flags;
    if (t == NULL || !instr_ompt_on() || told & OMPT_TASK_INITIAL)
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    const struct instr_ompt_loop *loop = loop_of(state, task);
    if (loop != NULL) {
        created->value = loop->id | INSTR_OMPT_PIECE;
        return;
    }
    state->seq = t->next_task++;
    state->flags = recorded_flags(told, has_depends != 0);
    state->site = site;
    state->id = instr_ompt_id(t->index, state->seq);
    if (told & OMPT_TASK_TASKWAIT)
        state->id |= INSTR_OMPT_TASKWAIT;
    else if (told & OMPT_TASK_UNDEFERRED)
        state->id |= INSTR_OMPT_UNDEFERRED;
    if (told & OMPT_TASK_UNTIED)
        state->id |= INSTR_OMPT_UNTIED;
    created->value = state->id;
    if (has_depends)
        state->wants = INSTR_OMPT_WANTS_DEPENDS;
    else
        instr_ompt_created(t, state, NULL, 0);
}

static uint32_t *put_depends(uint32_t *p, const ompt_dependence_t *depends, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uintptr_t address = (uintptr_t)depends[i].variable.ptr;
        uint32_t kind = INSTR_DEPEND_OUT;
        switch (depends[i].dependence_type) {
        case OMPT_DEPEND_IN:
            kind = INSTR_DEPEND_IN;
            break;
        case OMPT_DEPEND_MUTEXINOUTSET:
            kind = INSTR_DEPEND_MUTEXINOUTSET;
            break;
        case OMPT_DEPEND_INOUTSET:
            kind = INSTR_DEPEND_INOUTSET;
            break;
        case OMPT_DEPEND_OUT_ALL_MEMORY:
        case OMPT_DEPEND_INOUT_ALL_MEMORY:
            kind = INSTR_DEPEND_ALL_MEMORY;
            address = 0;
            break;
        default:
            break;
        }
        p = instr_put_depend(p, address, kind);
    }
    return p;
}

void instr_ompt_created(struct instr_thread *t, struct instr_ompt_state *state, const ompt_dependence_t *depends, size_t count)
{
    struct instr_slot s;
    uint32_t *p;
    for (; count > INSTR_CFG_DEPENDS_PER_EVENT; count -= INSTR_CFG_DEPENDS_PER_EVENT, depends += INSTR_CFG_DEPENDS_PER_EVENT) {
        p = instr_open(t, &s, INSTR_EV_TASK_DEPEND, 2 + INSTR_CFG_DEPENDS_PER_EVENT * INSTR_DEPEND_WORDS);
        if (p == NULL)
            continue;
        put_depends(instr_put32(instr_put32(p, state->seq), INSTR_CFG_DEPENDS_PER_EVENT), depends, INSTR_CFG_DEPENDS_PER_EVENT);
        instr_close(&s);
    }
    if (state->id & INSTR_OMPT_TASKWAIT) {
        p = instr_open(t, &s, INSTR_EV_TASKWAIT_DEPEND, 3 + count * INSTR_DEPEND_WORDS);
        if (p != NULL) {
            put_depends(instr_put32(instr_put32(instr_put32(p, state->seq), 0), (uint32_t)count), depends, count);
            instr_close(&s);
        }
        instr_event1(t, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_TASKWAIT_DEPEND);
        return;
    }
    p = instr_task_open(t, &s, state->seq, (uintptr_t)state->site, state->flags, count, instr_is_far((uintptr_t)state->site));
    if (p != NULL) {
        put_depends(p, depends, count);
        instr_close(&s);
    }
    if (!(state->id & INSTR_OMPT_UNDEFERRED))
        instr_event0(t, INSTR_EV_TASK_CREATED);
}

/* An ordered loop's iteration is posted or waited for. */
static void doacross(struct instr_thread *t, const ompt_dependence_t *depends, size_t count)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_DOACROSS, 2 + 2 * count);
    if (p == NULL)
        return;
    const bool sink = depends[0].dependence_type == OMPT_DEPEND_SINK;
    p = instr_put32(instr_put32(p, sink ? INSTR_DOACROSS_SINK : INSTR_DOACROSS_SOURCE), (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        p = instr_put64(p, depends[i].variable.value);
    instr_close(&s);
}

void instr_ompt_dependences(ompt_data_t *task, const ompt_dependence_t *depends, int count)
{
    struct instr_thread *t = instr_self;
    if (t == NULL || task == NULL)
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    if (state->wants == INSTR_OMPT_WANTS_DEPENDS && task->value == state->id) {
        state->wants = INSTR_OMPT_NOTHING;
        instr_ompt_created(t, state, depends, count > 0 ? (size_t)count : 0);
        return;
    }
    if (state->wants != INSTR_OMPT_NOTHING)
        instr_ompt_settle(t, state);
    if (count > 0 && depends[0].dependence_type >= OMPT_DEPEND_SOURCE && depends[0].dependence_type <= OMPT_DEPEND_SINK)
        doacross(t, depends, (size_t)count);
}

/* ---- scheduling ---- */

/* What runs on this thread now, for the header of the next packet. */
static void set_current(struct instr_thread *t, const ompt_data_t *task)
{
    const uint64_t id = task != NULL ? task->value : 0;
    const struct instr_ompt_level *level = instr_ompt_level(instr_ompt_state(t));
    if (instr_ompt_is_task(id)) {
        t->task_thread = instr_ompt_thread(id);
        t->task_seq = instr_ompt_seq(id);
    } else if (level->open || instr_ompt_state(t)->level == 0) {
        t->task_thread = t->task_seq = INSTR_NONE;
    } else { /* in the closing barrier: what runs is what was there before the region */
        t->task_thread = level->task_thread;
        t->task_seq = level->task_seq;
    }
}

static void begin_piece(struct instr_thread *t, ompt_data_t *task)
{
    const uint64_t loop = task->value;
    if (instr_ompt_is_helper()) { /* creates pieces on this thread */
        struct instr_ompt_state *state = instr_ompt_state(t);
        if (state->loops < INSTR_OMPT_LOOPS)
            state->loop[state->loops] = (struct instr_ompt_loop){.helper = task, .id = loop & ~INSTR_OMPT_PIECE};
        state->loops++;
        return;
    }
    const uint32_t seq = t->next_task++;
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_TASKLOOP_TASK, 7 + INSTR_HEADER_WORDS + 2);
    task->value = instr_ompt_id(t->index, seq) | INSTR_OMPT_RUNNING;
    if (p != NULL) {
        p = instr_put32(instr_put32(instr_put32(p, instr_ompt_thread(loop)), instr_ompt_seq(loop)), seq);
        p = instr_put64(instr_put64(p, 0), 0); /* the piece's bounds are not told in time */
        instr_put32(instr_put32(instr_open_second(t, p, INSTR_EV_TASK_BEGIN), t->index), seq);
        instr_close(&s);
    } else { /* the first one is counted */
        event_of_task(t, INSTR_EV_TASK_BEGIN, task->value);
    }
    instr_point(t, INSTR_AT_TASK_BEGIN);
    set_current(t, task);
}

static void begin(struct instr_thread *t, ompt_data_t *task)
{
    if (!instr_ompt_on())
        return;
    if (task->value & INSTR_OMPT_PIECE) {
        begin_piece(t, task);
        return;
    }
    event_of_task(t, INSTR_EV_TASK_BEGIN, task->value);
    instr_point(t, INSTR_AT_TASK_BEGIN);
    task->value |= INSTR_OMPT_RUNNING;
    set_current(t, task);
}

/* The creating call of an undeferred task returns about now. */
static void creator_goes_on(struct instr_thread *t, ompt_data_t *task)
{
    if (task->value & INSTR_OMPT_UNDEFERRED) {
        task->value &= ~INSTR_OMPT_UNDEFERRED;
        instr_event0(t, INSTR_EV_TASK_CREATED);
    }
}

static void end(struct instr_thread *t, ompt_data_t *task, const ompt_data_t *next)
{
    struct instr_ompt_state *state = instr_ompt_state(t);
    if (task->value & INSTR_OMPT_PIECE) { /* a helper, or a piece that was cancelled before it began */
        if (state->loops > INSTR_OMPT_LOOPS || (state->loops > 0 && state->loop[state->loops - 1].helper == task))
            state->loops--;
        return;
    }
    if (task->value & INSTR_OMPT_RUNNING) {
        task->value &= ~INSTR_OMPT_RUNNING;
        instr_point(t, INSTR_AT_TASK);
        instr_event0(t, INSTR_EV_TASK_END);
        set_current(t, next);
    }
    creator_goes_on(t, task);
}

static void leave(struct instr_thread *t, ompt_data_t *task, const ompt_data_t *next)
{
    task->value |= INSTR_OMPT_SUSPENDED;
    instr_event0(t, INSTR_EV_TASK_SUSPEND);
    creator_goes_on(t, task);
    set_current(t, next);
}

static void change(struct instr_thread *t, ompt_data_t *prior, ompt_data_t *next)
{
    const uint64_t to = next->value;
    if (to & INSTR_OMPT_SUSPENDED && instr_ompt_is_task(to)) {
        next->value &= ~INSTR_OMPT_SUSPENDED;
        event_of_task(t, INSTR_EV_TASK_RESUME, to);
        set_current(t, next);
    } else if (instr_ompt_is_task(to) && !(to & INSTR_OMPT_RUNNING)) {
        begin(t, next);
    } else if (prior != NULL && (prior->value & (INSTR_OMPT_UNTIED | INSTR_OMPT_RUNNING)) == (INSTR_OMPT_UNTIED | INSTR_OMPT_RUNNING)) {
        leave(t, prior, next);
    }
}

static void event_handle(struct instr_thread *t, unsigned id, uint64_t task)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, id, 2 + INSTR_ADDR_WORDS);
    if (p != NULL) {
        instr_put_addr(instr_put32(instr_put32(p, instr_ompt_thread(task)), instr_ompt_seq(task)), 0);
        instr_close(&s);
    }
}

void instr_ompt_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
    struct instr_thread *t = instr_ompt_enter();
    if (t == NULL || prior == NULL)
        return;
    const bool task = instr_ompt_is_task(prior->value);
    switch (status) {
    case OMPT_TASK_YIELD:
    case OMPT_TASK_SWITCH:
        if (next != NULL)
            change(t, prior, next);
        break;
    case OMPT_TASK_COMPLETE:
    case OMPT_TASK_CANCELLED:
        if (task)
            end(t, prior, next);
        break;
    case OMPT_TASK_DETACH:
        if (task) {
            event_handle(t, INSTR_EV_TASK_EVENT, prior->value);
            end(t, prior, next);
        }
        break;
    case OMPT_TASK_EARLY_FULFILL:
    case OMPT_TASK_LATE_FULFILL:
        if (task) {
            if (status == OMPT_TASK_EARLY_FULFILL)
                event_handle(t, INSTR_EV_TASK_EVENT, prior->value);
            event_handle(t, INSTR_EV_TASK_FULFILL, prior->value);
        }
        break;
    case OMPT_TASKWAIT_COMPLETE:
        if (task)
            instr_event1(t, INSTR_EV_SYNC_END, INSTR_SYNC_TASKWAIT_DEPEND);
        break;
    default:
        break;
    }
}

/*
 * Parallel regions and implicit tasks.
 *
 * An implicit task's body ends where the region's closing barrier begins (ompt/sync.c writes implicit_end there): libomp tells the end of
 * a worker's implicit task only when the thread is needed again. A region of one thread has no such barrier; there the end of the implicit task is
 * the end of its body.
 *
 * Which region ends is remembered here: libomp passes what its team holds, and that team may already be another thread's.
 */
#include "core/packed.h"
#include "ompt/state.h"

/* The region that was encountered at this level ends. */
static void end_encountered(struct instr_thread *t, struct instr_ompt_level *level)
{
    if (level->encountered == 0)
        return;
    instr_point(t, INSTR_AT_REGION);
    instr_event1(t, INSTR_EV_PARALLEL_END, level->encountered - 1);
    level->encountered = 0;
}

void instr_ompt_parallel_begin(ompt_data_t *task, const void *frame, ompt_data_t *region, unsigned requested, int flags,
                               const void *site)
{
    (void)frame;
    if (instr_ompt_is_helpers(site))
        return;
    struct instr_thread *t = instr_ompt_enter();
    if (t == NULL)
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    if (!instr_ompt_on() || state->level + 1 >= INSTR_OMPT_LEVELS) {
        state->fork_site = site;
        if (instr_ompt_on())
            instr_lose(t, 4); /* its beginning and end, and those of the implicit task */
        return;
    }
    if (site == NULL && task != NULL && task->value & INSTR_OMPT_IMPLICIT) {
        /* The construct is `teams`: each initial task runs as a team of one that the program never asked for. */
        region->value = (task->value & ~INSTR_OMPT_IMPLICIT) | INSTR_OMPT_INNER;
        return;
    }
    const uint32_t seq = t->next_region++;
    const bool league = ((unsigned)flags & OMPT_PARALLEL_LEAGUE) != 0;
    region->value = instr_ompt_id(t->index, seq);
    if ((unsigned)flags & OMPT_PARALLEL_INVOKER_PROGRAM && requested > 1)
        region->value |= INSTR_OMPT_GNU;
    state->fork_site = site;
    struct instr_ompt_level *level = instr_ompt_level(state);
    end_encountered(t, level); /* if libomp never told */
    level->encountered = seq + 1;
    const uint32_t kind = (league ? INSTR_PARALLEL_TEAMS : INSTR_PARALLEL_REGION) | INSTR_PARALLEL_CALL_SITE;
    instr_parallel_begin(t, seq, (uintptr_t)site, requested, kind);
    instr_point(t, INSTR_AT_REGION);
}

void instr_ompt_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *site)
{
    (void)region;
    (void)task;
    (void)flags;
    if (instr_ompt_is_helpers(site)) /* they may end behind the program, when libomp is unloaded */
        return;
    struct instr_thread *t = instr_ompt_enter();
    if (t != NULL)
        end_encountered(t, instr_ompt_level(instr_ompt_state(t)));
}

static void begin(struct instr_thread *t, struct instr_ompt_state *state, uint64_t region, unsigned size, unsigned number)
{
    const uint32_t thread = instr_ompt_thread(region);
    struct instr_ompt_level *level = instr_ompt_level(state);
    level->site = thread == t->index ? state->fork_site : NULL;
    level->gnu = (region & INSTR_OMPT_GNU) != 0;
    level->open = 1;
    instr_implicit_record(t, thread, instr_ompt_seq(region), number, thread == t->index ? size : 0);
    t->task_thread = t->task_seq = INSTR_NONE;
    t->region_thread = thread;
    t->region_seq = instr_ompt_seq(region);
    instr_point(t, INSTR_AT_IMPLICIT);
}

void instr_ompt_body_ended(struct instr_thread *t, struct instr_ompt_level *level)
{
    if (!level->open)
        return;
    end_encountered(t, level);
    level->open = 0;
    instr_point(t, INSTR_AT_IMPLICIT);
    instr_event0(t, INSTR_EV_IMPLICIT_END);
    t->task_thread = level->task_thread;
    t->task_seq = level->task_seq;
    t->region_thread = level->region_thread;
    t->region_seq = level->region_seq;
}

/* An implicit task of a region that is not recorded has a level too, so that its closing barrier does not end the one around it. */
static void implicit_begins(struct instr_thread *t, uint64_t region, ompt_data_t *task, unsigned size, unsigned number)
{
    struct instr_ompt_state *state = instr_ompt_state(t);
    task->value = (region & 0xffffffffffffffu) | INSTR_OMPT_IMPLICIT;
    state->level++;
    *instr_ompt_level(state) = (struct instr_ompt_level){.task_thread = t->task_thread, t->task_seq, t->region_thread, t->region_seq,
                                                         .site = region == 0 && number == 0 ? state->fork_site : NULL};
    if (region != 0 && !(region & INSTR_OMPT_INNER) && instr_ompt_on() && state->level < INSTR_OMPT_LEVELS)
        begin(t, state, region, size, number);
}

/* What is not recorded does not attach a thread: it may be one of libomp's own, or one that is about to end. */
void instr_ompt_implicit_task(int endpoint, ompt_data_t *region, ompt_data_t *task, unsigned size, unsigned number, int flags)
{
    const uint64_t id = endpoint == OMPT_SCOPE_BEGIN && region != NULL ? region->value : 0;
    struct instr_thread *t = instr_self != NULL || id != 0 ? instr_ompt_enter() : NULL;
    if (t == NULL || task == NULL)
        return;
    struct instr_ompt_state *state = instr_ompt_state(t);
    if (endpoint == OMPT_SCOPE_BEGIN) {
        if (id != 0 || !((unsigned)flags & OMPT_TASK_INITIAL))
            implicit_begins(t, id, task, size, number);
    } else if (task->value & INSTR_OMPT_IMPLICIT && state->level > 0) {
        instr_ompt_body_ended(t, instr_ompt_level(state));
        state->level--;
    }
}

/*
 * Regions as an OMPT runtime tells them: what begins is ended, whatever nests, is switched off in between, or belongs to threads that
 * are about to end or are the runtime's own. The calls are made here as libomp 14 (kind 2) and 17 (kind 9) make them.
 */
#include "core/process.h"
#include "ompt/state.h"
#include "recorded.h"

#define DEPTH 40u

static const char code[2 * DEPTH]; /* addresses of constructs */

static void region_begin(ompt_data_t *outer, ompt_data_t *region, ompt_data_t *task, unsigned size, const void *site)
{
    region->value = task->value = 0;
    instr_ompt_parallel_begin(outer, NULL, region, size, OMPT_PARALLEL_INVOKER_RUNTIME, site);
    instr_ompt_implicit_task(OMPT_SCOPE_BEGIN, region, task, size, 0, 2);
}

static void closing_barrier(int kind, ompt_data_t *region, ompt_data_t *task, const void *site)
{
    instr_ompt_sync_region(kind, OMPT_SCOPE_BEGIN, region, task, site);
    instr_ompt_sync_region(kind, OMPT_SCOPE_END, NULL, task, site);
}

static void region_end(ompt_data_t *outer, ompt_data_t *region, ompt_data_t *task, unsigned size, const void *site)
{
    instr_ompt_implicit_task(OMPT_SCOPE_END, NULL, task, size, 0, 2);
    instr_ompt_parallel_end(region, outer, OMPT_PARALLEL_INVOKER_RUNTIME, site);
}

/* Deeper regions than a thread has room for are counted as lost; all others have both their ends. */
static void deep(void)
{
    ompt_data_t initial = {0}, regions[DEPTH], tasks[DEPTH];
    const uint32_t *p = recorded_from();
    const uint64_t lost = instr_self != NULL ? instr_self->discarded : 0;
    for (unsigned i = 0; i < DEPTH; i++)
        region_begin(i > 0 ? &tasks[i - 1] : &initial, &regions[i], &tasks[i], 1, &code[i]);
    for (unsigned i = DEPTH; i-- > 0;)
        region_end(i > 0 ? &tasks[i - 1] : &initial, &regions[i], &tasks[i], 1, &code[i]);
    if (instr_self == NULL)
        return;
    const unsigned kept = INSTR_OMPT_LEVELS - 1;
    const uint32_t first = instr_self->next_region - kept;
    for (uint32_t i = 0; i < kept; i++) {
        p = RECORDED_PARALLEL(p, first + i, &code[i], 1, INSTR_PARALLEL_CALL_SITE);
        p = RECORDED_IMPLICIT(p, instr_self->index, first + i, 0, 1);
    }
    for (uint32_t i = kept; i-- > 0;) {
        p = RECORDED0(p, INSTR_EV_IMPLICIT_END);
        p = RECORDED(p, INSTR_EV_PARALLEL_END, first + i);
    }
    recorded_end(p);
    CHECK(instr_self->discarded - lost == 4 * (DEPTH - kept));
    CHECK(instr_self->region_thread == INSTR_NONE && instr_ompt_state(instr_self)->level == 0);
}

/* A region that is not recorded, inside one that is: its closing barrier is its own. */
static void nested_while_off(int kind)
{
    ompt_data_t initial = {0}, region, task, inner, inner_task;
    region_begin(&initial, &region, &task, 2, &code[0]);
    (void)instr_switch(false);
    const uint32_t *p = recorded_from();
    region_begin(&task, &inner, &inner_task, 2, &code[1]);
    closing_barrier(kind, &inner, &inner_task, &code[1]);
    region_end(&task, &inner, &inner_task, 2, &code[1]);
    (void)instr_switch(true);
    recorded_end(p);
    CHECK(instr_self == NULL || instr_self->region_thread == instr_self->index);
    closing_barrier(kind, &region, &task, &code[0]);
    p = RECORDED0(p, INSTR_EV_IMPLICIT_END);
    region_end(&initial, &region, &task, 2, &code[0]);
    p = RECORDED(p, INSTR_EV_PARALLEL_END, ANY);
    recorded_end(p);
}

/* Recording begins inside a region: a barrier in it is told, the one that closes it is not. */
static void switched_on_inside(int kind)
{
    ompt_data_t initial = {0}, region, task;
    (void)instr_switch(false);
    region_begin(&initial, &region, &task, 2, &code[0]);
    (void)instr_switch(true);
    const uint32_t *p = recorded_from();
    instr_ompt_sync_region(OMPT_SYNC_BARRIER_EXPLICIT, OMPT_SCOPE_BEGIN, &region, &task, &code[1]);
    instr_ompt_sync_region(OMPT_SYNC_BARRIER_EXPLICIT, OMPT_SCOPE_END, &region, &task, &code[1]);
    p = RECORDED(p, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_BARRIER);
    p = RECORDED(p, INSTR_EV_SYNC_END, INSTR_SYNC_BARRIER);
    closing_barrier(kind, &region, &task, &code[0]);
    region_end(&initial, &region, &task, 2, &code[0]);
    recorded_end(p);
    /* The same on a worker that has been recorded only since: no implicit task of its own, no return address. */
    task.value = 0;
    closing_barrier(kind, &region, &task, NULL);
    recorded_end(p);
}

/* A thread that is ending, or that serves libomp alone, is not recorded (again). */
static void not_attached(void)
{
    struct instr_thread *const t = instr_self;
    ompt_data_t initial = {0}, region = {0}, task = {0};
    instr_self = NULL;
    instr_ompt_implicit_task(OMPT_SCOPE_BEGIN, &region, &initial, 1, 1, OMPT_TASK_INITIAL);
    CHECK(instr_self == NULL);
    instr_ompt_parallel_begin(&initial, NULL, &region, 8, OMPT_PARALLEL_INVOKER_RUNTIME, NULL);
    CHECK(instr_self == NULL && region.value == 0);
    instr_ompt_implicit_task(OMPT_SCOPE_BEGIN, &region, &task, 8, 0, 2);
    instr_ompt_masked(OMPT_SCOPE_BEGIN, &region, &task, NULL);
    instr_ompt_sync_region(OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_BEGIN, &region, &task, NULL);
    instr_ompt_implicit_task(OMPT_SCOPE_END, NULL, &task, 8, 0, 2);
    instr_ompt_implicit_task(OMPT_SCOPE_END, NULL, &initial, 0, 1, OMPT_TASK_INITIAL);
    CHECK(instr_self == NULL && instr_lost_unattached() == 0);
    instr_self = t;
}

/* An OpenMP runtime that is part of the program itself: no address tells what is its own. */
static int set_callback(int event, ompt_interface_fn_t fn) { return event > 0 && fn != NULL ? 5 : 0; }
static ompt_interface_fn_t look_up(const char *name)
{
    return strcmp(name, "ompt_set_callback") == 0 ? (ompt_interface_fn_t)set_callback : NULL;
}

static void linked_statically(void)
{
    ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *name);
    ompt_start_tool_result_t *const tool = ompt_start_tool(201811, "test");
    if (tool == NULL)
        return;
    CHECK(tool->initialize(look_up, 0, &tool->tool_data) == 1);
    CHECK(!instr_ompt_in_runtime((const void *)(uintptr_t)look_up));
}

int main(void)
{
    deep();
    nested_while_off(OMPT_SYNC_BARRIER_IMPLICIT);
    nested_while_off(OMPT_SYNC_IMPLICIT_PARALLEL);
    switched_on_inside(OMPT_SYNC_BARRIER_IMPLICIT);
    switched_on_inside(OMPT_SYNC_IMPLICIT_PARALLEL);
    not_attached();
    linked_statically();
    return failures != 0;
}

/*
 * A league of teams on the host: libgomp runs the body once for each team, one after the other on the calling thread. A league is a
 * region of kind 3, with an implicit task for each initial thread; its number in the league takes the place of the thread's number.
 */
#include "core/cold.h"

#include "probes/team.h"

/* Of libgomp since GCC 9, as GOMP_teams_reg is. */
extern int omp_get_team_num(void);
extern int omp_get_num_teams(void);

static void teams_body(void *arg)
{
    const struct instr_team *team = arg;
    struct instr_thread *t = instr_thread();
    struct instr_outer outer;
    if (t != NULL)
        instr_implicit_enter(t, team, (uint32_t)omp_get_team_num(), (uint32_t)omp_get_num_teams(), &outer);
    team->fn(team->data);
    if (t != NULL)
        instr_implicit_end(t, &outer);
}

void instr_probe_teams(void (*real)(instr_fn *, void *, unsigned, unsigned, unsigned), instr_fn *fn, void *data, unsigned num_teams,
                       unsigned thread_limit, unsigned flags)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        real(fn, data, num_teams, thread_limit, flags);
        return;
    }
    const uint32_t seq = instr_region_open(t, fn, num_teams, INSTR_PARALLEL_TEAMS);
    struct instr_team team = {.fn = fn, .data = data, .thread = t->index, .seq = seq};
    real(teams_body, &team, num_teams, thread_limit, flags);
    instr_point(t, INSTR_AT_REGION);
    instr_event1(t, INSTR_EV_PARALLEL_END, seq);
}

/* A league on the host: the body runs once for each team with the program's own data; libgomp gets the numbers as they were. */
#include "instr/probes.h"
#include "recorded.h"

static int data;
static unsigned bodies;

static void body(void *given)
{
    CHECK(given == &data);
    bodies++;
}

static void league(instr_fn *fn, void *given, unsigned num_teams, unsigned thread_limit, unsigned flags)
{
    CHECK(num_teams == 3 && thread_limit == 5 && flags == 2);
    for (unsigned i = 0; i < num_teams; i++)
        fn(given);
}

int main(void)
{
    const uint32_t seq = instr_self != NULL ? instr_self->next_region : 0;
    const uint32_t self = instr_self != NULL ? instr_self->index : 0;
    const uint32_t *p = recorded_from();
    instr_probe_teams(league, body, &data, 3, 5, 2);
    CHECK(bodies == 3);
    p = RECORDED_PARALLEL(p, seq, body, 3, INSTR_PARALLEL_TEAMS);
    for (unsigned i = 0; i < 3; i++) {
        p = RECORDED_IMPLICIT(p, self, seq, 0, 1); /* libgomp runs no league: team 0 of 1 */
        p = RECORDED0(p, INSTR_EV_IMPLICIT_END);
    }
    p = RECORDED(p, INSTR_EV_PARALLEL_END, seq);
    recorded_end(p);
    return failures != 0;
}

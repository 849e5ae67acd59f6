/* Whether a construct is cancelled is what the program acts on: arguments and results of all six functions, and what is told. */
#include "instr/probes.h"
#include "recorded.h"

static int given_which;
static bool given_do, answer;
static unsigned calls;

static bool cancel(int which, bool do_cancel) { return given_which = which, given_do = do_cancel, calls++, answer; }
static bool point(int which) { return given_which = which, calls++, answer; }
static bool end(void) { return calls++, answer; }

int main(void)
{
    static const int kinds[] = {INSTR_CANCEL_PARALLEL, INSTR_CANCEL_LOOP, INSTR_CANCEL_SECTIONS, INSTR_CANCEL_TASKGROUP};
    for (unsigned bits = 0; bits < 16; bits++) {
        const int which = kinds[bits & 3];
        const bool wanted = bits & 4;
        answer = bits & 8;
        const uint32_t detected = answer ? INSTR_CANCEL_DETECTED : 0;
        const uint32_t *p = recorded_from();
        CHECK(instr_probe_cancel(cancel, which, wanted) == answer);
        CHECK(given_which == which && given_do == wanted);
        given_which = 0;
        CHECK(instr_probe_cancellation_point(point, which) == answer);
        CHECK(given_which == which);
        p = RECORDED(p, INSTR_EV_CANCEL, (uint32_t)which, (wanted ? INSTR_CANCEL_ACTIVATED : 0u) | detected);
        p = RECORDED(p, INSTR_EV_CANCEL, (uint32_t)which, detected);
        recorded_end(p);
        CHECK(instr_probe_loop_end_cancel(end) == answer);
        CHECK(instr_probe_sections_end_cancel(end) == answer);
        CHECK(instr_probe_barrier_cancel(end) == answer);
    }
    CHECK(calls == 16 * 5);
    return failures != 0;
}

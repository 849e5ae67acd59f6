/* The entry points that GCC 17 adds are in no libgomp here: false ones say what they were given, and give what must come back. */
#include "instr/probes.h"
#include "recorded.h"

static unsigned calls;
static instr_ull given[2];
static int given_int;

static instr_complex_int pair(int real, int imaginary)
{
    instr_complex_int c;
    __real__ c = real;
    __imag__ c = imaginary;
    return c;
}

static void barrier(int kind) { given_int = kind, calls++; }
static bool barrier_cancel(int kind) { return given_int = kind, calls++, kind == 1; }
static instr_complex_int share(instr_ull iterations) { return given[0] = iterations, calls++, pair(12, -7); }
static void dispatch(instr_ull start, instr_ull iterations) { given[0] = start, given[1] = iterations, calls++; }
static bool masked(int thread) { return given_int = thread, calls++, thread == 3; }
static bool single(void) { return calls++, true; }
static void nothing(void) { calls++; }
static void depend_nowait(void **depend) { given[0] = (uintptr_t)depend, calls++; }

#define IS(c, r, i) CHECK(__real__(c) == (r) && __imag__(c) == (i))

static void loops(void)
{
    const uint32_t *p = recorded_from();
    instr_complex_int c = instr_probe_static_loop(share, 0x1234, UINT64_C(0x8000000000000001));
    IS(c, 12, -7);
    CHECK(given[0] == UINT64_C(0x8000000000000001));
    p = RECORDED(p, INSTR_EV_STATIC_LOOP, WORDS_ADDR(0x1234));
    const unsigned schedule = INSTR_LOOP_STATIC | INSTR_LOOP_COUNTED;
    c = instr_probe_static_loop_start(share, schedule, UINT64_MAX);
    IS(c, 12, -7);
    CHECK(given[0] == UINT64_MAX);
    p = RECORDED(p, INSTR_EV_LOOP_BEGIN, schedule, WORDS64(0), WORDS64(UINT64_MAX), WORDS64(1), WORDS64(0));
    instr_probe_static_loop_dispatch(dispatch, UINT64_C(1) << 40, 17);
    CHECK(given[0] == UINT64_C(1) << 40 && given[1] == 17);
    p = RECORDED(p, INSTR_EV_CHUNK_BEGIN, WORDS64(UINT64_C(1) << 40), WORDS64((UINT64_C(1) << 40) + 17));
    instr_probe_loop_end_nowait(nothing);
    p = RECORDED(p, INSTR_EV_WORK_END, 1);
    recorded_end(p);
    CHECK(calls == 4);
}

static void barriers(void)
{
    for (int kind = -1; kind <= 3; kind++) {
        const uint32_t sync = kind == 2 ? INSTR_SYNC_BARRIER : INSTR_SYNC_WORK_BARRIER;
        const uint32_t *p = recorded_from();
        given_int = 99;
        instr_probe_barrier_ext(barrier, kind);
        CHECK(given_int == kind);
        given_int = 99;
        CHECK(instr_probe_barrier_cancel_ext(barrier_cancel, kind) == (kind == 1));
        CHECK(given_int == kind);
        for (int i = 0; i < 2; i++) {
            p = RECORDED(p, INSTR_EV_SYNC_BEGIN, sync);
            p = RECORDED(p, INSTR_EV_SYNC_END, sync);
        }
        recorded_end(p);
    }
}

static void blocks(void)
{
    const uint32_t *p = recorded_from();
    CHECK(!instr_probe_masked_begin(masked, 2));
    CHECK(given_int == 2);
    recorded_end(p); /* who does not run the block tells nothing */
    CHECK(instr_probe_masked_begin(masked, 3));
    instr_probe_masked_end(nothing);
    CHECK(instr_probe_single_start(single));
    instr_probe_single_end(nothing);
    p = RECORDED0(p, INSTR_EV_MASKED_BEGIN);
    p = RECORDED0(p, INSTR_EV_MASKED_END);
    p = RECORDED(p, INSTR_EV_SINGLE, 1);
    p = RECORDED0(p, INSTR_EV_SINGLE_END);
    recorded_end(p);
    instr_probe_mutex_enter(nothing, INSTR_MUTEX_ATOMIC); /* GOMP_reduction_start and _end */
    instr_probe_mutex_leave(nothing, INSTR_MUTEX_ATOMIC);
}

int main(void)
{
    loops();
    barriers();
    calls = 0;
    blocks();
    CHECK(calls == 7);
    int x;
    void *depend[] = {(void *)1, (void *)0, &x};
    const uint32_t *p = recorded_from();
    const uint32_t seq = instr_self != NULL ? instr_self->next_task : 0;
    instr_probe_taskwait_depend_nowait(depend_nowait, depend);
    CHECK(given[0] == (uintptr_t)depend);
    p = RECORDED(p, INSTR_EV_TASKWAIT_DEPEND, seq, INSTR_TASKWAIT_DEPEND_NOWAIT, 1, WORDS_DEPEND(&x, INSTR_DEPEND_IN));
    recorded_end(p);
    return failures != 0;
}

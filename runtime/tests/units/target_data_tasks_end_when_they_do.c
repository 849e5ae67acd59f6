/* target update and enter/exit data: arguments unchanged; with one of nowait and depend a task that is over when the call returns; with
 * both one whose end nobody tells. */
#include "instr/probes.h"
#include "recorded.h"

static char memory[8];
static void *addresses[] = {memory};
static size_t sizes[] = {8};
static unsigned short kinds[] = {1};
static int x;
static unsigned calls, flags;
static void **depend;

static void real(int device, size_t count, void **a, size_t *s, unsigned short *k, unsigned f, void **d)
{
    CHECK(device == -1 && count == 1 && a == addresses && s == sizes && k == kinds && f == flags && d == depend);
    calls++;
}

static void one(bool nowait, bool dependent)
{
    void *list[] = {(void *)1, (void *)1, &x};
    const uint32_t kind = INSTR_TARGET_UPDATE;
    const uint32_t seq = instr_self != NULL ? instr_self->next_task : 0;
    const uint32_t self = instr_self != NULL ? instr_self->index : 0;
    const uint32_t *p = recorded_from();
    flags = nowait;
    depend = dependent ? list : NULL;
    instr_probe_target_update_ext(real, kind, -1, 1, addresses, sizes, kinds, flags, depend);
    const bool task = nowait || dependent;
    if (dependent)
        p = RECORDED_TASK(p, seq, 0, INSTR_TASK_FLAG_TARGET | 8u, 1, WORDS_DEPEND(&x, INSTR_DEPEND_OUT));
    else if (task)
        p = RECORDED_TASK(p, seq, 0, INSTR_TASK_FLAG_TARGET, 0);
    p = RECORDED(p, INSTR_EV_TARGET_BEGIN, kind, WORDS_ADDR(0), 0xffffffffu, nowait);
    if (task && !(nowait && dependent)) {
        p = RECORDED(p, INSTR_EV_TASK_BEGIN, self, seq);
        p = RECORDED0(p, INSTR_EV_TASK_END);
    }
    p = RECORDED(p, INSTR_EV_TARGET_END, kind);
    if (task)
        p = RECORDED0(p, INSTR_EV_TASK_CREATED);
    recorded_end(p);
}

int main(void)
{
    for (unsigned bits = 0; bits < 4; bits++)
        one(bits & 1, bits & 2);
    CHECK(calls == 4);
    return failures != 0;
}

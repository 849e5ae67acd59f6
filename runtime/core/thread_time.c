#include "core/cold.h"

#include "core/thread_time.h"

#include "core/packet.h"
#include "core/record.h"

#if INSTR_HAS_THREAD_TIME

/* What a thread has had before it was attached is left out below this, ns. */
#define YOUNG 1000000u

/* Of a thread that was attached for less than this, ns, nothing is asked: asking takes some 10 us. */
#define SHORT 10000000u

struct times {
    uint64_t run;
    uint64_t wait;
};

static void record(struct instr_thread *t, const struct times *times)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_THREAD_TIME, 4);
    if (p != NULL) {
        instr_put64(instr_put64(p, times->run), times->wait);
        instr_close(&s);
    }
}

void instr_thread_time_begin(struct instr_thread *t)
{
    struct times times;
    t->attached_ns = instr_platform_monotonic_ns();
    if (instr_platform_run_ns() >= YOUNG && instr_platform_thread_time(t->os_tid, &times.run, &times.wait))
        record(t, &times);
}

/* Once for each thread. */
static bool ask(struct instr_thread *t, struct times *times)
{
    const uint64_t attached = t->attached_ns;
    t->attached_ns = 0;
    return attached != 0 && instr_platform_monotonic_ns() - attached >= SHORT &&
           instr_platform_thread_time(t->os_tid, &times->run, &times->wait);
}

void instr_thread_time_last(struct instr_thread *t)
{
    struct times times;
    if (instr_process.active != INSTR_OFF && ask(t, &times))
        record(t, &times);
}

void instr_thread_time_end(struct instr_thread *t)
{
    uint32_t words[4];
    struct times times;
    if (!ask(t, &times))
        return;
    instr_put64(instr_put64(words, times.run), times.wait);
    (void)instr_packet_append(t, INSTR_EV_THREAD_TIME, words, 4);
}

#endif

/* What stands in front of an event says its time, however far behind the last one it is, and where the last one's time is not known. */
#define INSTR_IMPLEMENTATION
#include "core/packet.h"
#include "recorded.h"

#include "instr/instr.h"

#define RANGE (UINT64_C(1) << 25)

/* A reader: the time of the event at `p`, behind one at `last`; the words of its header. */
static uint64_t time_of(const uint32_t *p, uint64_t last, size_t *words)
{
    const uint32_t id = INSTR_BIG_ENDIAN ? p[0] >> 25 : p[0] & 0x7f;
    if (id == 127) {
        *words = 3;
        return INSTR_BIG_ENDIAN ? (uint64_t)p[1] << 32 | p[2] : (uint64_t)p[2] << 32 | p[1];
    }
    *words = 1;
    const uint64_t low = INSTR_BIG_ENDIAN ? p[0] & 0x1ffffff : p[0] >> 7;
    const uint64_t time = (last & ~(RANGE - 1)) | low;
    return time >= last ? time : time + RANGE;
}

int main(void)
{
    instr_event(1, 2);
    struct instr_thread *const t = instr_self;
    if (t == NULL)
        return failures != 0;
    static const struct {
        int64_t gap;
        int64_t told; /* between the events */
        size_t words;
    } cases[] = {
        {0, 0, 1},
        {1, 1, 1},
        {(int64_t)RANGE - 1, (int64_t)RANGE - 1, 1},
        {(int64_t)RANGE, (int64_t)RANGE, 3},
        {(int64_t)RANGE + 1, (int64_t)RANGE + 1, 3},
        {(int64_t)RANGE * 2 - 1, (int64_t)RANGE * 2 - 1, 3},
        {INT64_C(1) << 40, INT64_C(1) << 40, 3},
        {-1, 0, 1},
        {-(INT64_C(1) << 40), 0, 1}, /* a clock that goes back stands still */
        {(int64_t)RANGE - 1, (int64_t)RANGE - 1, 1},
    };
    size_t words;
    uint64_t last = t->last_event;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t *p = recorded_from();
        CHECK(instr_packet_put(t, INSTR_EV_TASK_END, last + (uint64_t)cases[i].gap, NULL, 0));
        const uint64_t found = time_of(p, last, &words);
        CHECK(found == last + (uint64_t)cases[i].told && words == cases[i].words);
        CHECK(p + words == recorded_from());
        RECORDED0(p, INSTR_EV_TASK_END);
        last = found;
    }
    /* Now the program's clock is far behind. */
    const uint32_t *p = recorded_from();
    instr_event(5, 6);
    CHECK(time_of(p, last, &words) == last && words == 1);
    recorded_end(RECORDED(p, INSTR_EV_USER_EVENT, 5, WORDS64(6)));

    /* And far ahead: by hand, so that nobody has to wait. */
    t->last_event = last = 1;
    p = recorded_from();
    instr_event(7, 8);
    const uint64_t now = time_of(p, last, &words);
    CHECK(words == 3 && now > RANGE && t->last_event == now);
    recorded_end(RECORDED(p, INSTR_EV_USER_EVENT, 7, WORDS64(8)));

    /* An event that was given up has put its time there. */
    struct instr_slot s;
    CHECK(instr_open(t, &s, INSTR_EV_TASK_END, 0) != NULL);
    instr_forget_time(t);
    const uint64_t given_up = instr_last_time(t);
    CHECK(given_up >= now);
    t->limit = t->slot_end;
    p = recorded_from();
    instr_region_end();
    CHECK(time_of(p, now, &words) >= given_up && words == 3);
    recorded_end(RECORDED0(p, INSTR_EV_REGION_END));

    /* Two events at one time. */
    for (unsigned i = 0; i < 2; i++) {
        last = instr_last_time(t);
        if (i == 1)
            t->last_event = last = 1;
        p = recorded_from();
        instr_event1_pair(t, INSTR_EV_WORK_END, 0, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_WORK_BARRIER);
        const uint64_t first = time_of(p, last, &words);
        const uint32_t *second = RECORDED(p, INSTR_EV_WORK_END, 0);
        CHECK(words == (i == 1 ? 3u : 1u) && first >= last);
        const uint64_t then = time_of(second, first, &words);
        CHECK(words == 1 && then >= first && (INSTR_ARCH_SMALL || then == first));
        recorded_end(RECORDED(second, INSTR_EV_SYNC_BEGIN, INSTR_SYNC_WORK_BARRIER));
    }
    return failures != 0;
}

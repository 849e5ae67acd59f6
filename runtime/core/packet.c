#include "core/cold.h"

#include "core/packet.h"

#include <string.h>

#include "core/process.h"
#include "core/record.h"
#include "core/settings.h"
#include "sinks/sink.h"

uint8_t instr_uuid[16];

/* Kept free in each packet for the runtime's own last events, clock_sync, stack, sample_lost and thread_end, so that a full buffer has them too. */
#define LAST_WORDS_BYTES 88u

static char *slot_base(const struct instr_thread *t, uint32_t slot)
{
    return t->base + (size_t)(t->size / t->slots) * slot;
}

static void put_field32(char *packet, unsigned offset, uint32_t value)
{
    memcpy(packet + offset, &value, sizeof value);
}

static void put_field64(char *packet, unsigned offset, uint64_t value)
{
    instr_put64((uint32_t *)(void *)(packet + offset), value);
}

static void set_cursor(struct instr_thread *t, char *cursor)
{
    t->cursor = cursor;
    INSTR_TELL(t, cursor);
}

static void set_next_seq(struct instr_thread *t, uint64_t number)
{
    t->next_seq = number;
    INSTR_TELL(t, next_seq);
}

void instr_packet_count_nested(struct instr_thread *t)
{
    const uint32_t nested = t->nested;
    instr_lose(t, (uint32_t)(nested - t->nested_counted));
    t->nested_counted = nested;
}

void instr_packet_clear(struct instr_thread *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        memset(slot_base(t, i), 0, INSTR_PACKET_HEADER_BYTES);
}

void instr_packet_open(struct instr_thread *t)
{
    char *packet = slot_base(t, t->slot);
    uint64_t now = instr_ticks(instr_process_clock());
    if (now < t->last_ticks)
        now = t->last_ticks;
    /* The old content goes first: whoever reads the window meanwhile finds an empty packet. */
    put_field64(packet, INSTR_PACKET_CONTENT_BITS, 0);
    t->slot_bytes[t->slot] = 0;
    set_cursor(t, packet + INSTR_PACKET_HEADER_BYTES);
    INSTR_BARRIER();
    put_field32(packet, INSTR_PACKET_MAGIC, INSTR_CTF_MAGIC);
    memcpy(packet + INSTR_PACKET_UUID, instr_uuid, sizeof instr_uuid);
    put_field32(packet, INSTR_PACKET_STREAM_ID, 0);
    put_field64(packet, INSTR_PACKET_BEGIN, now);
    put_field64(packet, INSTR_PACKET_END, 0);
    put_field64(packet, INSTR_PACKET_BITS, 0);
    put_field64(packet, INSTR_PACKET_SEQ, t->next_seq);
    put_field64(packet, INSTR_PACKET_DISCARDED, t->discarded);
    put_field32(packet, INSTR_PACKET_THREAD, t->index);
    put_field32(packet, INSTR_PACKET_OS_TID, t->os_tid);
    put_field32(packet, INSTR_PACKET_TASK_THREAD, t->task_thread);
    put_field32(packet, INSTR_PACKET_TASK_SEQ, t->task_seq);
    put_field32(packet, INSTR_PACKET_REGION_THREAD, t->region_thread);
    put_field32(packet, INSTR_PACKET_REGION_SEQ, t->region_seq);
    put_field32(packet, INSTR_PACKET_FLAGS, t->overwrote ? INSTR_PACKET_FLAG_OVERWROTE : 0);
    put_field32(packet, INSTR_PACKET_TASKS_CREATED, t->next_task);
    t->processor = INSTR_NONE; /* each packet tells anew where its thread runs */
    t->packet_begin = now;
    t->events = 0;
    t->slot_end = packet + (size_t)(t->size / t->slots) - LAST_WORDS_BYTES;
    memset(t->strings, 0, sizeof t->strings);
}

/* Completes the header of the packet being filled and returns its bytes. */
static size_t close_packet(struct instr_thread *t, char *packet)
{
    const size_t bytes = (size_t)(t->cursor - packet);
    uint64_t now = instr_ticks(instr_process_clock());
    if (now < t->packet_begin)
        now = t->packet_begin;
    t->last_ticks = now;
    instr_packet_count_nested(t);
    put_field64(packet, INSTR_PACKET_END, now);
    put_field64(packet, INSTR_PACKET_DISCARDED, t->discarded);
    put_field64(packet, INSTR_PACKET_BITS, (uint64_t)bytes * 8);
    INSTR_BARRIER();
    put_field64(packet, INSTR_PACKET_CONTENT_BITS, (uint64_t)bytes * 8);
    t->slot_bytes[t->slot] = (uint32_t)bytes;
    return bytes;
}

bool instr_packet_append(struct instr_thread *t, unsigned id, const uint32_t *words, unsigned count)
{
    if ((size_t)(t->slot_end + LAST_WORDS_BYTES - t->cursor) < 8 + 4 * (size_t)count)
        return false;
    uint32_t *p = instr_put_header((uint32_t *)(void *)t->cursor, id, instr_ticks(instr_process_clock()));
    memcpy(p, words, 4 * (size_t)count);
    INSTR_BARRIER();
    set_cursor(t, (char *)(p + count));
    t->events++;
    return true;
}

static void append_flush(struct instr_thread *t, uint64_t begin, size_t bytes)
{
    uint32_t words[3];
    instr_put32(instr_put64(words, begin), (uint32_t)bytes);
    (void)instr_packet_append(t, INSTR_EV_FLUSH, words, 3);
}

void instr_append_clock_sync(struct instr_thread *t)
{
    struct instr_clock_pair pair;
    uint32_t words[6];
    instr_read_clocks(&pair);
    instr_put64(instr_put64(instr_put64(words, pair.ticks), pair.monotonic_ns), pair.realtime_ns);
    (void)instr_packet_append(t, INSTR_EV_CLOCK_SYNC, words, 6);
}

static bool turn_stream(struct instr_thread *t)
{
    char *packet = slot_base(t, 0);
    const uint64_t begin = instr_ticks(instr_process_clock());
    const uint32_t events = t->events;
    const size_t bytes = close_packet(t, packet);
    if (!instr_sink_append(t->index, packet, bytes)) {
        instr_lose(t, events);
        t->next_seq--; /* the number is used by the next packet that gets through */
    }
    set_next_seq(t, t->next_seq + 1);
    instr_packet_open(t);
    append_flush(t, begin, bytes);
    instr_append_clock_sync(t);
    return true;
}

static bool turn_ring(struct instr_thread *t)
{
    close_packet(t, slot_base(t, t->slot));
    t->slot_events[t->slot] = t->events;
    const uint32_t next = t->slot + 1 < t->slots ? t->slot + 1 : 0;
    if (t->slot_bytes[next] != 0) {
        instr_lose(t, t->slot_events[next]);
        t->overwrote = 1;
    }
    put_field64(slot_base(t, next), INSTR_PACKET_CONTENT_BITS, 0);
    set_cursor(t, slot_base(t, next) + INSTR_PACKET_HEADER_BYTES);
    INSTR_BARRIER();
    t->slot = next;
    INSTR_TELL(t, slot);
    set_next_seq(t, t->next_seq + 1);
    instr_packet_open(t);
    return true;
}

bool instr_packet_turn(struct instr_thread *t)
{
    if (!t->sampling.taking) /* the dynamic linker's lock may be held by who waits for what was interrupted */
        instr_modules_changed();
    /* A signal handler may end the process in here: then the packet must not be handed over a second time. */
    bool turned = false;
    t->turning = 1;
    INSTR_BARRIER();
    if (instr_settings.policy == INSTR_POLICY_STREAM)
        turned = turn_stream(t);
    else if (instr_settings.policy == INSTR_POLICY_RING)
        turned = turn_ring(t);
    INSTR_BARRIER();
    t->turning = 0;
    return turned;
}

bool instr_packet_finish(struct instr_thread *t)
{
    close_packet(t, slot_base(t, t->slot));
    /* Slots follow each other in time beginning with the one after the current. */
    for (uint32_t i = 1; i <= t->slots; i++) {
        const uint32_t slot = (t->slot + i) % t->slots;
        if (t->slot_bytes[slot] != 0 && !instr_sink_append(t->index, slot_base(t, slot), t->slot_bytes[slot]))
            return false; /* later ones would leave a gap in the stream */
    }
    return true;
}

char *instr_make_room(struct instr_thread *t, char *limit, size_t bytes)
{
    if (limit == NULL) { /* an event inside an event: a signal handler, or the runtime's own activity */
        t->nested++;
        return NULL;
    }
    /* Events of streams without a thread come with interrupts off, where nothing can be handed to a sink. */
    if (instr_settings.policy == INSTR_POLICY_END || (t->ownerless && instr_settings.policy == INSTR_POLICY_STREAM)) {
        instr_lose(t, 1);
        t->limit = limit;
        return NULL;
    }
    struct instr_guest guest;
    instr_platform_enter(&guest);
    const size_t room = (size_t)(t->size / t->slots) - INSTR_PACKET_HEADER_BYTES - LAST_WORDS_BYTES - 64; /* 64: flush and clock_sync */
    char *place = NULL;
    if (bytes <= room && instr_packet_turn(t))
        place = t->cursor;
    else
        instr_lose(t, 1);
    instr_platform_leave(&guest);
    if (place == NULL) {
        INSTR_BARRIER();
        t->limit = limit;
    }
    return place;
}

void instr_string(struct instr_thread *t, const char *address)
{
    size_t length = 0;
    while (length < INSTR_CFG_STRING_BYTES && address[length] != '\0')
        length++;
    const size_t words = INSTR_ADDR_WORDS + length / 4 + 1;
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_STRING, words);
    if (p == NULL)
        return;
    p[length / 4] = 0;
    memcpy(p, address, length);
    instr_put_addr(p + length / 4 + 1, (uintptr_t)address);
    t->strings[((uintptr_t)address >> 2 ^ (uintptr_t)address >> 9) & (INSTR_STRING_CACHE - 1)] = address;
    instr_close(&s);
}
